import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { galley, type RunningGalley, startGalley } from '../helpers/galley.ts';
import { serveFiles, startHttpSite } from '../helpers/http-site.ts';
import { shellEnvironment } from '../helpers/shell-environment.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const run = promisify(execFile);
const folder = emptiedFolder();

it('works in any folder after npm pack and npm install -g, with only a galley.yaml there', async () => {
  // A path with spaces, as people have them.
  const [prefix, home] = [join(folder, 'global prefix'), join(folder, 'my docs')];
  await mkdir(home);
  await builtGalley();
  // As a shell outside of the checkout, whose settings npm would take over.
  const env = shellEnvironment({});
  const npm = async (args: readonly string[], cwd: string) =>
    (await run('npm', [...args, '--loglevel=error', '--no-audit', '--no-fund'], { cwd, env, timeout: 600_000 })).stdout;
  const packed = JSON.parse(await npm(['pack', '--json', '--pack-destination', folder], process.cwd()));
  const [{ filename, files }] = packed;
  const folders = new Set(files.map(({ path }: { path: string }) => path.split('/')[0]));
  expect([...folders].filter((name) => ['test', 'bench', 'scripts', 'workflows'].includes(String(name)))).toEqual([]);
  await npm(['install', '--global', '--prefix', prefix, '--prefer-offline', join(folder, filename)], home);

  const origin = await startHttpSite(serveFiles({ '/': '<!doctype html><title>Handbook</title>' }));
  await writeFile(
    join(home, 'galley.yaml'),
    `sites:
  handbook:
    domain: docs.example.com
    origin: ${origin.origin}
    export: {deployments: [{valuesFile: values.yaml}]}
`,
  );
  const form = { program: join(prefix, 'bin', 'galley') };
  let up: RunningGalley | undefined;
  try {
    up = await startGalley(['up'], FREE_PORTS, home, form);
    const exported = await galley(['sites', 'export'], {}, home, form);
    expect(exported).toMatchObject({ code: 0, stdout: expect.stringMatching(/http:\/\/127\.0\.0\.1:\d+/) });
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(exported.stdout) ?? [];
    const [, served = ''] = / deployment (\S+)/.exec(up.ready) ?? [];
    expect(url).toBe(served);
    expect((await up.stop('SIGINT')).code).toBe(0);
    expect((await readdir(home)).sort()).toEqual(['.galley', 'galley.yaml', 'values.yaml', 'values.yaml.galley.json']);
  } finally {
    await up?.stop('SIGKILL');
    await origin.close();
  }
});
