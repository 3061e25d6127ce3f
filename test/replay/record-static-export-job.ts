// Records a history of each branch of staticExportJob under test/replay/static-export-job/, for this release:
//   node --import ./scripts/typescript.js test/replay/record-static-export-job.ts 0.1
// It takes the workflow bundle that the last `npm test` made, and needs Chromium. Files that are there are left as they
// are: a changed workflow must still replay them.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import { createBrowserPool } from '../../platform/activities/export/browser/browser-pool.ts';
import { type ExportRig, startExportRig } from '../helpers/export-rig.ts';
import { externalFiles, fixtureSite } from '../helpers/fixture-site.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../helpers/http-site.ts';
import { createDatabase } from '../helpers/test-database.ts';
import { historyText } from './history-text.ts';

const release = process.argv[2];
if (release === undefined) throw new Error('Name the release, such as 0.1');

type Branch = { name: string; play: (rig: ExportRig, site: HttpSite) => Promise<string> };

const branches: Branch[] = [
  {
    name: 'completed',
    play: async (rig, site) => rig.start({ origin: site.origin }),
  },
  {
    name: 'failed',
    play: async (rig, site) => {
      site.setHandler((_request, response) => response.writeHead(404).end());
      return rig.start({ origin: site.origin });
    },
  },
  {
    name: 'shared-by-several-crawlers',
    play: async (rig, site) => {
      site.setHandler(async (request, response) => {
        await sleep(30);
        const number = Number((request.url ?? '/').slice(1));
        const links = Array.from({ length: 12 }, (_, child) => 12 * number + child + 1).filter((next) => next < 700);
        response.writeHead(Number.isNaN(number) ? 404 : 200, { 'content-type': 'text/html' });
        response.end(links.map((next) => `<a href="/${next}">${next}</a>`).join(' '));
      });
      return rig.start({ origin: site.origin });
    },
  },
  {
    name: 'crawling-on-after-samples',
    play: async (rig, site) => {
      const page = `<title>One</title><script>fetch('/da' + 'ta.json')</script>`;
      site.setHandler(serveFiles({ '/': page, '/data.json': { body: '{}', contentType: 'application/json' } }));
      return rig.start({ origin: site.origin, settings: { discover: 'browser' } });
    },
  },
  {
    name: 'begun-anew',
    play: async (rig, site) => {
      site.setHandler(serveFiles({ '/': '<img src="/dot.png">', '/dot.png': { body: '.', contentType: 'image/png' } }));
      const { row } = await rig.run({ origin: site.origin });
      const keys = [row.archiveKey ?? ''];
      for await (const key of rig.objects.list(`exports/${row.id}/`)) keys.push(key);
      await rig.objects.delete(keys);
      return rig.start({ origin: site.origin, projectId: row.projectId });
    },
  },
  {
    name: 'cancelled-while-crawling',
    play: async (rig, site) => {
      site.requests.length = 0;
      site.setHandler(async (_request, response) => {
        await sleep(100);
        response.setHeader('content-type', 'text/html');
        response.end(`<a href="/${Math.random()}">a</a><a href="/${Math.random()}">b</a>`);
      });
      const jobId = await rig.start({ origin: site.origin });
      while (site.requests.length < 20) await sleep(20);
      await rig.temporal.client.workflow.getHandle(jobId).cancel();
      return jobId;
    },
  },
];

const run = promisify(execFile);
const temporal = await locateDevServer();
const rig = await startExportRig(await createDatabase());
const assets = await startHttpSite(serveFiles(externalFiles));
const site = await startHttpSite(serveFiles(fixtureSite(assets.origin)));
const pool = createBrowserPool({
  path: undefined,
  sandbox: false,
  searchPath: process.env.PATH ?? '',
  logger: pino({ level: 'silent' }),
});
await rig.startWorker(
  {
    privateHosts: [assets.host],
    soloCrawlMs: 300,
    maxConcurrency: 4,
    initialConcurrency: 4,
    batchFiles: 40,
    // What is gone from the store shall be gone.
    cacheBytes: 0,
  },
  pool,
);
for (const { name, play } of branches) {
  const file = `test/replay/static-export-job/${name}-${release}.json`;
  if (existsSync(file)) continue;
  const jobId = await play(rig, site);
  await rig.end(jobId);
  const show = ['workflow', 'show', '--workflow-id', jobId, '--output', 'json', '--address', rig.temporal.address];
  const { stdout } = await run(temporal, show, { maxBuffer: 64 * 1024 * 1024 });
  const history: { events: unknown[] } = JSON.parse(stdout);
  await writeFile(file, historyText(history), { flag: 'wx' });
  console.log(`${file}: ${history.events.length} events`);
}
await rig.stop();
await pool.close();
await site.close();
await assets.close();
process.exit(0);
