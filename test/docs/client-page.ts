import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { startFakeAdminApi } from '../helpers/admin-api/fake-admin-api.ts';

const root = process.cwd();
/** Checked strictly, without Galley's own settings. `types: ['node']` is for `process` of the example. */
const TSCONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  },
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

/** The example of docs/guide/client.md compiles and runs in a folder where the package is installed. */
export async function checkClient(folder: string): Promise<void> {
  const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(await readFile('docs/guide/client.md', 'utf8')) ?? [];
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, type: 'module' }));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await writeFile(join(folder, 'example.ts'), example);
  await writeFile(join(folder, 'wrong.ts'), WRONG);
  await execa('node', [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { cwd: folder });
  const api = await startFakeAdminApi();
  try {
    const env = { ADMIN_API_URL: api.url, ADMIN_API_KEY: api.key };
    const { stdout } = await execa('node', ['example.js'], { cwd: folder, env });
    const [link] = api.links('docs.example.com');
    expect(stdout.split('\n').slice(1)).toEqual([link?.url, `${api.jobs[0]?.jobId} completed`]);
  } finally {
    await api.close();
  }
}
