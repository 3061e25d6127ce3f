import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { startFakeAdminApi } from '../helpers/admin-api/fake-admin-api.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = process.cwd();
const folder = temporaryFolder();
/** Checked strictly, without Galley's own settings. `types: ['node']` is for `process` of the example. */
const TSCONFIG = {
  compilerOptions: { module: 'nodenext', target: 'es2023', strict: true, types: ['node'] },
  include: ['*.ts'],
};
const WRONG = `
import { createAdminApiClient } from 'galley/client';
const client = createAdminApiClient({ url: '', key: '' });
// @ts-expect-error: a text
export const progress: number = (await client.exports.get('se_1')).jobId;
// @ts-expect-error: a job needs a domain
export const started = client.exports.start({});
`;

/** What `npm install PATH` of this package makes. Packing it would take a minute. */
async function linkPackage(): Promise<void> {
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, '@types'), { recursive: true });
  await symlink(root, join(modules, 'galley'));
  await symlink(join(root, 'node_modules/@types/node'), join(modules, '@types/node'));
}

test('a project elsewhere compiles and runs the documented example with the linked package', async () => {
  await builtGalley();
  await linkPackage();
  const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(await readFile('docs/guide/client.md', 'utf8')) ?? [];
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await writeFile(join(folder, 'example.ts'), example);
  await writeFile(join(folder, 'wrong.ts'), WRONG);
  await execa('node', [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { cwd: folder });

  const api = await startFakeAdminApi();
  try {
    const env = { ADMIN_API_URL: api.url, ADMIN_API_KEY: api.key };
    const { stdout } = await execa('node', ['example.js'], { cwd: folder, env });
    expect(stdout.split('\n').slice(1)).toEqual([
      api.links('docs.example.com')[0]?.url,
      `${api.jobs[0]?.jobId} completed`,
    ]);
  } finally {
    await api.close();
  }
});
