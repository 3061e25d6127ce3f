import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { withFileLock } from '../activities/deployments/file-lock.ts';
import { FREE_PORTS } from './helpers/free-port.ts';
import { galleyHere, type RunningGalley, startGalley } from './helpers/galley.ts';
import { type HttpSite, serveFiles, startHttpSite } from './helpers/http-site.ts';
import { waitFor } from './helpers/system/wait-for.ts';

const SECRET = `whsec_${Buffer.from('the secret of the handbook').toString('base64')}`;

const CONFIG = `
sites:
  handbook:
    domain: docs.example.com
    webhooks: {standard: {secret: "\${STANDARD_SECRET}"}}
    export: {quietPeriod: 200ms, maxWait: 1s, deployments: [{valuesFile: values.yaml}]}
`;

let folder: string;
let origin: HttpSite;
let up: RunningGalley;
let variables: Record<string, string>;
let firstVersion: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-walk-'));
  await writeFile(join(folder, 'galley.yaml'), CONFIG);
  origin = await startHttpSite(handbook('first text'));
  variables = {
    ...FREE_PORTS,
    ...{ GALLEY_HOME: join(folder, 'state'), STANDARD_SECRET: SECRET },
    ...{ BUNDLE_LINK_TTL: '10s', MIN_REFRESH_INTERVAL: '1s' },
  };
  up = await startGalley(['up'], variables, folder);
  const set = ['projects', 'set', '--project', 'prj_handbook', '--origin', origin.origin];
  expect(await galleyHere(set, variables, folder)).toMatchObject({ code: 0 });
});

afterAll(async () => {
  await up?.stop('SIGKILL');
  await origin?.close();
  await rm(folder, { recursive: true, force: true });
});

function handbook(text: string) {
  return serveFiles({
    '/': '<!doctype html><title>Handbook</title><a href="/guide">Guide</a>',
    '/guide': `<!doctype html><title>Guide</title><p>${text}</p><a href="/">Home</a>`,
  });
}

async function publish(): Promise<void> {
  const api = / api (\S+)/.exec(up.ready)?.[1] ?? '';
  const args = ['webhook', 'send', 'handbook', 'standard', '--url', api];
  // On a busy machine a delivery may get a 503, which a CMS sends again.
  await waitFor(async () => (await galleyHere(args, variables, folder)).code === 0, {
    describe: 'accepted the publish',
  });
}

/** The text of a page of the deployment. */
async function served(path: string): Promise<string> {
  const deployment = / deployment (\S+)/.exec(up.ready)?.[1] ?? '';
  return await (await fetch(new URL(path, deployment))).text();
}

/** The workflow learns a moment after the deployment that the values file is written. */
async function deployedVersion(): Promise<string> {
  return await waitFor(
    async (): Promise<string | null> => {
      const { stdout } = await galleyHere(['sites', 'status', 'handbook', '--json'], variables, folder);
      return JSON.parse(stdout).deployments[0].version;
    },
    { describe: 'reported the deployed version' },
  );
}

/** What an operator does with the values file, but between two refreshes of its link, which could replace the edit. */
async function pin(version: string | null): Promise<void> {
  const file = join(folder, 'values.yaml');
  await withFileLock(file, async () => {
    const text = (await readFile(file, 'utf8')).replace(/^ {2}version:.*\n/m, '');
    const pinned = version === null ? text : text.replace(/^staticExport:\n/m, `$&  version: "${version}"\n`);
    await writeFile(`${file}.edited`, pinned);
    await rename(`${file}.edited`, file);
  });
}

async function deployedLink(): Promise<URL> {
  const { staticExport } = parse(await readFile(join(folder, 'values.yaml'), 'utf8'));
  expect(staticExport).toMatchObject({ enabled: true });
  return new URL(staticExport.bundleUrl);
}

describe('the main job on the embedded parts', () => {
  test('a signed publish exports the site, and the deployment serves it', async () => {
    await publish();
    await waitFor(async () => (await served('/guide')).includes('first text'), { describe: 'served the first export' });
    expect(await served('/')).toContain('href="guide.html"');
    firstVersion = await deployedVersion();
  });

  test('an edit is served after the next publish', async () => {
    origin.setHandler(handbook('second text'));
    await publish();
    await waitFor(async () => (await served('/guide')).includes('second text'), { describe: 'served the edit' });
  });

  test('a pin brings an older version back until it is removed', async () => {
    await pin(firstVersion);
    await waitFor(async () => (await served('/guide')).includes('first text'), {
      describe: 'served the pinned version',
    });
    await pin(null);
    await waitFor(async () => (await served('/guide')).includes('second text'), { describe: 'served the newest' });
  });

  test('the link is refreshed before it expires, and leads to the same bundle', async () => {
    const before = await deployedLink();
    const after = await waitFor(
      async () => {
        const link = await deployedLink();
        return link.href !== before.href && (await fetch(link)).status === 200 && link;
      },
      { describe: 'refreshed the link' },
    );
    expect(after.pathname).toBe(before.pathname);
  });

  test('Ctrl-C ends everything with exit code 0', async () => {
    expect(await up.stop('SIGINT')).toMatchObject({ code: 0 });
  });
});
