import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../helpers/free-port.ts';
import { galley, type RunningGalley, startGalley } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const cleanups = createCleanups();
afterEach(cleanups.run);

test('a backup beside a running up, restored on an empty machine, goes on where it was', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'galley-backup-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true }));
  const home = join(folder, 'state');
  const values = join(folder, 'values.yaml');
  const file = join(folder, 'galley.backup');
  let text = 'edition one';
  const site = await startHttpSite((_request, response) => {
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>${text}</title>`);
  });
  cleanups.add(site.close);
  await writeFile(
    join(folder, 'galley.yaml'),
    `sites:\n  docs:\n    domain: docs.example.com\n    origin: "${site.origin}"\n` +
      '    webhooks: {token: {secret: a-secret-of-the-test}}\n    export: {deployments: [{valuesFile: values.yaml}]}\n',
  );
  // Links name the platform's port.
  const PLATFORM_PORT = String(await freePort());
  const ports = { PORT: '0', PLATFORM_PORT, DEPLOYMENT_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
  const variables = { ...ports, GALLEY_HOME: home };
  const run = async (...args: string[]) => galley(args, variables, folder);
  const up = async (): Promise<RunningGalley> => {
    const started = await startGalley(['up'], variables, folder);
    cleanups.add(() => started.stop('SIGKILL'));
    return started;
  };
  const publish = async ({ ready }: RunningGalley) => {
    const [, deployment = ''] = / deployment (\S+)/.exec(ready) ?? [];
    expect(await run('sites', 'export', 'docs', '--detach')).toMatchObject({ code: 0, stderr: '' });
    const served = async () => (await (await fetch(deployment)).text()).includes(text);
    await waitFor(served, { describe: `served ${text}` });
  };
  const exports = async (): Promise<{ jobId: string; version: string }[]> =>
    JSON.parse((await run('exports', 'list', '--json')).stdout).jobs;

  const before = await up();
  await publish(before);
  const [, link = ''] = /bundleUrl: "?([^"\s]+)/.exec(await readFile(values, 'utf8')) ?? [];
  const bundle = Buffer.from(await (await fetch(link)).arrayBuffer());
  const known = await exports();
  const made = await run('backup', file);
  expect(made).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('It holds secrets.') });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readdir(home)).filter((name) => name.includes('part'))).toEqual([]);
  text = 'edition two, after the backup';
  await publish(before);
  await before.stop('SIGKILL');

  const refused = await run('restore', file);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/GALLEY_HOME: expected an empty folder/) });
  await rm(home, { recursive: true });
  await rm(values);
  const cut = join(folder, 'cut.backup');
  await copyFile(file, cut);
  await truncate(cut, Math.floor((await stat(file)).size / 2));
  expect(await run('restore', cut)).toMatchObject({ code: 2, stderr: expect.stringContaining('damaged') });
  expect(await readdir(home)).toEqual(['up.lock']);
  expect(await run('restore', file)).toMatchObject({ code: 0, stderr: '' });

  const after = await up();
  expect(await exports()).toEqual(known);
  expect(Buffer.from(await (await fetch(link)).arrayBuffer()).equals(bundle)).toBe(true);
  text = 'edition three, after the restore';
  await publish(after);
  expect((await exports()).map(({ jobId }) => jobId)).toEqual([expect.any(String), ...known.map(({ jobId }) => jobId)]);

  // Without a running `up`, the files are read as they are.
  await after.stop('SIGTERM');
  expect(await run('backup', file, '--json')).toMatchObject({ code: 0, stderr: '' });
  await rm(home, { recursive: true });
  await mkdir(home);
  expect(await run('restore', file, '--json')).toMatchObject({ code: 0, stderr: '' });
  const last = await up();
  expect(await exports()).toHaveLength(known.length + 1);
  text = 'edition four';
  await publish(last);
});
