import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { galley, startGalley } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const cleanups = createCleanups();
afterEach(cleanups.run);

/** The three commands of README.md and docs/getting-started.md. */
test('init, up and sites export produce the first export of a site', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'galley-newcomer-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true }));
  const site = await startHttpSite((request, response) => {
    response.setHeader('content-type', 'text/html');
    if (request.url === '/') response.end('<!doctype html><title>Home</title><a href="/guide">Guide</a>');
    else if (request.url === '/guide') response.end('<!doctype html><title>Guide</title><p>The guide');
    else response.writeHead(404).end();
  });
  cleanups.add(site.close);

  const answers = ['--yes', '--domain', 'docs.example.com', '--origin', site.origin];
  expect(await galley(['init', ...answers], {}, folder)).toMatchObject({ code: 0, stderr: '' });

  const up = await startGalley(['up'], { ...FREE_PORTS, LOG_LEVEL: 'info' }, folder);
  cleanups.add(() => up.stop('SIGKILL'));
  const [, api = '', deployment = ''] = / api (\S+) deployment (\S+)/.exec(up.ready) ?? [];
  await waitFor(async () => up.output().includes(`${api}/webhooks/docs/contentful`), {
    describe: 'listed the webhook',
  });
  expect(up.output()).not.toMatch(/"level":[456]0|Not updated/);
  for (const url of [api, deployment, ...(/platform (\S+).* ui (\S+)/.exec(up.ready) ?? []).slice(1)]) {
    const response = await fetch(url);
    expect({ url, type: response.headers.get('content-type') }).toMatchObject({
      type: expect.stringContaining('text/html'),
    });
  }

  expect(await galley(['sites', 'export', 'docs'], {}, folder)).toMatchObject({ code: 0, stderr: '' });
  const page = async (path: string): Promise<string> => await (await fetch(`${deployment}${path}`)).text();
  await waitFor(async () => (await page('/guide')).includes('The guide'), { describe: 'served the export' });
  const status = await galley(['sites', 'status', 'docs'], {}, folder);
  expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/^docs: live\n(?:.*\n)* {2}pages +2\n/) });
  expect(status.stdout).toContain(deployment);
  expect(await galley(['doctor', '--json'], {}, folder)).toMatchObject({ code: 0 });

  // The webhook that init configured also works, with the generated secret.
  const sent = await galley(['webhook', 'send', 'docs', 'contentful'], {}, folder);
  expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('202: Accepted by export:docs') });
  const opened = await galley(['open', 'docs', '--print'], {}, folder);
  expect((await fetch(opened.stdout.trim())).status).toBe(200);
  expect(await readFile(join(folder, 'values/docs.yaml'), 'utf8')).toContain('bundleUrl');
});
