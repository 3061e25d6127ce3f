import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { startFakeAdminApi } from '../helpers/admin-api/fake-admin-api.ts';

const root = process.cwd();
let folder: string;

beforeAll(async () => {
  await mkdir(join(root, '.cache'), { recursive: true });
  folder = await mkdtemp(join(root, '.cache', 'client-example-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The example of docs/guide/client.md, with the client's source instead of the package. */
async function example(): Promise<string> {
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(await readFile('docs/guide/client.md', 'utf8')) ?? [];
  expect(code).toContain("from 'galley/client'");
  const source = join(relative(folder, root), 'client/admin-api-client.ts');
  return code.replace("'galley/client'", `'${source}'`);
}

test('the example of the client compiles, and exports a site', async () => {
  const file = join(folder, 'example.ts');
  await writeFile(file, await example());
  const config = { extends: join(root, 'tsconfig.json'), include: ['example.ts'] };
  const options = { compilerOptions: { typeRoots: [join(root, 'node_modules/@types')], types: ['node'] } };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, ...options }));
  await execa('node', [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { cwd: root });

  const api = await startFakeAdminApi();
  try {
    const { stdout } = await execa('node', ['--import', join(root, 'scripts/typescript.js'), file], {
      env: { ADMIN_API_URL: api.url, ADMIN_API_KEY: api.key },
    });
    const [job] = api.jobs;
    expect(stdout.split('\n')).toEqual([
      '50 %, 7 pages',
      api.links('docs.example.com')[0]?.url,
      `${job?.jobId} completed`,
    ]);
  } finally {
    await api.close();
  }
});

test('the package exports the file that the client is built to', async () => {
  const manifest = z.looseObject({ exports: z.record(z.string(), z.string()) });
  const { exports } = manifest.parse(JSON.parse(await readFile('package.json', 'utf8')));
  expect(exports['./client']).toBe('./dist/client/admin-api-client.js');
});
