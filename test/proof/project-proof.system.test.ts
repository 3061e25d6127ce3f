import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportReport } from '../../contract/admin-api.ts';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { galley, type RunningGalley, startGalley } from '../helpers/galley.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';
import { locateRealTool } from '../helpers/real-tool.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const folder = temporaryFolder();
/** What commands beside it need. */
const home = { GALLEY_HOME: join(folder, 'home') };
let origin: HttpSite;
let running: RunningGalley;
let variables: Record<string, string>;

/** `cut`: the exporter gets less of the guide than a browser. `hangs`: a browser gets no answer. */
let fault: 'none' | 'cut' | 'hangs' = 'none';

const page = (title: string, text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p>` +
  '<a href="/">Start</a> <a href="/guide/">Guide</a>';

beforeAll(async () => {
  origin = await startHttpSite((asked, response) => {
    if (asked.url !== '/' && asked.url !== '/guide/') return response.writeHead(404).end();
    const isExporter = String(asked.headers['user-agent']).includes('static export');
    if (fault === 'hangs' && !isExporter) return undefined;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    const text = fault === 'cut' && isExporter ? 'All of it' : 'All of it, to the end';
    return response.end(asked.url === '/' ? page('Start', 'Welcome') : page('Guide', text));
  });
  const temporary = join(folder, 'tmp');
  await mkdir(temporary);
  variables = {
    ...FREE_PORTS,
    ...{ ...home, TMPDIR: temporary, CHROMIUM_SANDBOX: 'off' },
    CHROMIUM_PATH: await locateRealTool('chromium'),
  };
  await writeFile(
    join(folder, 'galley.yaml'),
    `sites:\n  handbook:\n    domain: docs.example.com\n    origin: "${origin.origin}"\n` +
      '    export: {prove: 5, guards: {proof: true}, deployments: [{directory: www}]}\n',
  );
  running = await startGalley(['up'], variables, folder);
});
afterAll(async () => {
  await running?.stop('SIGKILL');
  await origin?.close();
});

const sites = (...args: string[]) => galley(['sites', ...args], home, folder);

async function exporting(): Promise<void> {
  const { code, stderr } = await sites('export', 'handbook', '--detach');
  expect([code, stderr]).toEqual([0, expect.any(String)]);
}

async function state() {
  const { stdout } = await sites('status', 'handbook', '--json');
  return JSON.parse(stdout);
}

async function reportOf(jobId: string) {
  const url = / platform (\S+)/.exec(running.ready)?.[1] ?? '';
  const key = (await readFile(join(folder, 'home/admin-api-key'), 'utf8')).trim();
  const answer = await fetch(`${url}/v1/static-export/jobs/${jobId}/report`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return exportReport.parse(await answer.json());
}

/** The processes of the proofs of this `up`: each has its folder in a variable or an argument. */
async function processesOfProofs(): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const [command = '', environment = ''] = await Promise.all(
      ['cmdline', 'environ'].map((name) => readFile(`/proc/${entry}/${name}`, 'utf8').catch(() => '')),
    );
    if (`${command} ${environment}`.includes(join(folder, 'tmp/galley-proof-'))) found.push(command);
  }
  return found;
}

/** Starts an export and waits until Chromium waits for the origin. Returns the job. */
async function hangingProof(): Promise<string> {
  fault = 'hangs';
  await exporting();
  const isOpen = async () => (await processesOfProofs()).filter((command) => /chrom/.test(command)).length > 1;
  await waitFor(isOpen, { describe: 'opened a browser' });
  const { stdout } = await galley(['exports', 'list', '--status', 'running', '--json'], home, folder);
  return JSON.parse(stdout).jobs[0].jobId;
}

const untilNoProcess = () =>
  waitFor(async () => (await processesOfProofs()).length === 0, { describe: 'ended its processes' });

describe('a site of galley up with a proof', () => {
  it('is deployed if its pages are equal, and its report has the result', async () => {
    await exporting();
    const isLive = async () => {
      const now = await state();
      return now.phase === 'live' && now;
    };
    const { jobId, guardsNotChecked } = await waitFor(isLive, { describe: 'was deployed' });
    expect(guardsNotChecked).toEqual([]);
    const { proof } = await reportOf(jobId);
    expect(proof).toMatchObject({
      status: 'passed',
      reason: null,
      pages: [],
      counts: { equal: 2, different: 0, unknown: 0 },
    });
    expect(proof?.html).toContain(`/ui/exports/${jobId}/proof.html`);
    expect(await processesOfProofs()).toEqual([]);
  });

  it('is held if a page of its bundle is different', async () => {
    const { version: served } = await state();
    fault = 'cut';
    await exporting();
    const { review } = await waitFor(
      async () => {
        const now = await state();
        return now.phase === 'review' && now;
      },
      { describe: 'was held' },
    );
    expect(review.reasons).toEqual([
      expect.stringMatching(
        /^1 of 2 pages differ from the origin in a browser, for example https:\/\/docs\.example\.com\/guide\/ \(text: /,
      ),
    ]);
    expect((await reportOf(review.jobId)).proof).toMatchObject({
      status: 'failed',
      counts: { equal: 1, different: 1 },
    });
    expect((await state()).version).toBe(served);
    const preview = await fetch(new URL('guide/', review.previewUrl));
    expect([preview.status, preview.headers.get('x-robots-tag')]).toEqual([200, 'noindex']);
  });

  it('leaves no browser if the export is canceled', async () => {
    const jobId = await hangingProof();
    expect((await galley(['exports', 'cancel', jobId], home, folder)).code).toBe(0);
    await untilNoProcess();
    const isOver = async () => (await reportOf(jobId)).proof === undefined;
    await waitFor(isOver, { describe: 'ended' });
  });

  it.each(['SIGINT', 'SIGKILL'] as const)('leaves no browser if %s ends it', async (signal) => {
    await hangingProof();
    await running.stop(signal);
    await untilNoProcess();
    if (signal === 'SIGINT') running = await startGalley(['up'], variables, folder);
  });
});
