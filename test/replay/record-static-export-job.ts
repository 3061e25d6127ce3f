// Records a history of each branch of staticExportJob under test/replay/static-export-job/, for this release:
//   node --import ./scripts/typescript.js test/replay/record-static-export-job.ts 0.1 [BRANCH] [FOLDER]
// It takes the workflow bundle that the last `npm test` made, and needs PostgreSQL and Chromium.
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createBrowserPool } from '../../exporter/render/browser-pool.ts';
import { type ExportRig, startExportRig } from '../helpers/export-rig.ts';
import { externalFiles, fixtureSite } from '../helpers/fixture-site.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../helpers/http-site.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { startDevServer } from '../helpers/temporal.ts';
import { record, unrecorded } from './recorder.ts';

type Play = (rig: ExportRig, site: HttpSite) => Promise<string>;

const branches: { name: string; play: Play }[] = [];

function branch(name: string, play: Play): void {
  branches.push({ name, play });
}

branch('completed', async (rig, site) => rig.start({ origin: site.origin }));

branch('failed', async (rig, site) => {
  site.setHandler((_request, response) => response.writeHead(404).end());
  return rig.start({ origin: site.origin });
});

branch('shared-by-several-crawlers', async (rig, site) => {
  site.setHandler(async (request, response) => {
    await sleep(30);
    const number = Number((request.url ?? '/').slice(1));
    const links = Array.from({ length: 12 }, (_, child) => 12 * number + child + 1).filter((next) => next < 700);
    response.writeHead(Number.isNaN(number) ? 404 : 200, { 'content-type': 'text/html' });
    response.end(links.map((next) => `<a href="/${next}">${next}</a>`).join(' '));
  });
  return rig.start({ origin: site.origin });
});

branch('crawling-on-after-samples', async (rig, site) => {
  const page = `<title>One</title><script>fetch('/da' + 'ta.json')</script>`;
  site.setHandler(serveFiles({ '/': page, '/data.json': { body: '{}', contentType: 'application/json' } }));
  return rig.start({ origin: site.origin, settings: { discover: 'browser' } });
});

branch('begun-anew', async (rig, site) => {
  site.setHandler(serveFiles({ '/': '<img src="/dot.png">', '/dot.png': { body: '.', contentType: 'image/png' } }));
  const { row } = await rig.run({ origin: site.origin });
  const keys = [row.archiveKey ?? ''];
  for await (const key of rig.objects.list(`exports/${row.id}/`)) keys.push(key);
  await rig.objects.delete(keys);
  return rig.start({ origin: site.origin, projectId: row.projectId });
});

branch('cancelled-while-crawling', async (rig, site) => {
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
});

const rig = await startExportRig(await startPostgres(), { temporal: await startDevServer() });
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
for (const { name, play } of unrecorded(branches, () => 'static-export-job')) {
  const jobId = await play(rig, site);
  await rig.end(jobId);
  await record('static-export-job', name, jobId, rig.temporal.address);
}
await rig.stop();
await pool.close();
await site.close();
await assets.close();
process.exit(0);
