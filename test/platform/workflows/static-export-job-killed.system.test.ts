import { setTimeout as sleep } from 'node:timers/promises';
import type { ExportLimits } from '../../../exporter/limits.ts';
import { bundleContent, changingOrigin, newSite } from '../../exporter/reuse/changing-site.ts';
import { type ExportRig, startExportRig } from '../../helpers/export-rig.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { holdStatements } from '../../helpers/kills/held-statements.ts';
import { leftByExports } from '../../helpers/kills/left-by-exports.ts';
import { startWorkerProcess, type WorkerProcess } from '../../helpers/platform-worker-process.ts';
import { startPostgres } from '../../helpers/postgres.ts';
import { createGate } from '../../helpers/system/gate.ts';

const PAGES = 250;

const editors = newSite(PAGES);
// One page leads to all, so that there is soon enough to share.
editors.pages.get(0)?.links.push(...editors.pages.keys());
const origin = changingOrigin(
  () => editors,
  () => 'etag',
);

let rig: ExportRig;
let site: HttpSite;
const workers: WorkerProcess[] = [];

async function startWorker(identity: string, limits: Partial<ExportLimits> = {}): Promise<WorkerProcess> {
  const worker = await startWorkerProcess({ ...rig.addresses, identity, limits });
  workers.push(worker);
  return worker;
}

beforeAll(async () => {
  rig = await startExportRig(await startPostgres());
  site = await startHttpSite(origin.handle);
});

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill();
});

afterAll(async () => {
  await rig.stop();
  await site.close();
});

/** Kills during full exports are shown with all of the product's programs (test/e2e/export-killed). */
describe('a worker killed without warning during an incremental export', () => {
  const EDITED = [3, 70, 249];
  /** More than are settled before the known pages are, and fewer than these. */
  const MANY = PAGES / 2;

  const KNOWN = `(select settled_count > ${MANY} from crawls where job_id = new.job_id)`;
  /** Where the worker is killed: SQL over the row that it is about to write. */
  const POINTS = [
    // What has changed is in line, and its answers are this worker's only.
    { table: 'crawl_urls', column: 'job_id', when: `new.state = 'leased' and tg_op = 'UPDATE'` },
    // What is unchanged is settled, but its transaction has not ended.
    { table: 'crawls', column: 'job_id', when: `new.settled_count > ${MANY}` },
    // It has, and what has changed is about to be settled.
    { table: 'crawl_urls', column: 'job_id', when: `new.state = 'settled' and ${KNOWN}` },
    // The archive is in the store, and nothing says so yet.
    { table: 'export_jobs', column: 'id', when: `new.status = 'completed'` },
  ];

  it('loses nothing and leaves nothing behind, whichever step of the known pages or of the archive it was at', async () => {
    // However slow the machine is, nothing that is known shall be left to the crawl.
    const limits = { revalidateMs: 60_000 };
    const first = await startWorker('first', limits);
    const before = await Promise.all(POINTS.map(() => rig.run({ origin: site.origin })));
    for (const page of EDITED) editors.pages.set(page, { text: 'New', links: [1], pictures: [], movedTo: null });
    const held = await holdStatements(
      rig.addresses.databaseUrl,
      POINTS.map(({ table, column, when }, index) => {
        const { projectId = '', id = '' } = before[index]?.row ?? {};
        const next = `select id from export_jobs where project_id = '${projectId}' and id <> '${id}'`;
        return { table, when: `new.${column} in (${next}) and ${when}` };
      }),
    );
    const jobIds = await Promise.all(
      before.map(({ row: { projectId } }) => rig.start({ origin: site.origin, projectId })),
    );
    await held.untilAllHeld();
    await first.kill();
    await held.giveUp();
    expect(await Promise.all(jobIds.map(standing))).toEqual([
      { phase: 'crawling', knowsMany: false },
      { phase: 'crawling', knowsMany: false },
      { phase: 'crawling', knowsMany: true },
      { phase: 'frozen', knowsMany: true },
    ]);

    await startWorker('second', limits);
    const full = bundleContent(await rig.run({ origin: site.origin }));
    await Promise.all(jobIds.map(rig.end));
    const ended = await Promise.all(jobIds.map(rig.read));
    for (const bundle of ended) {
      expect(bundleContent(bundle)).toEqual(full);
      expect(bundle.report.reuse?.unchangedAddresses).toBeGreaterThanOrEqual(PAGES - EDITED.length);
    }
    expect(
      await leftByExports(
        rig,
        [...before, ...ended].map(({ row }) => row.id),
      ),
    ).toEqual({ crawls: jobIds.toSorted(), keys: [] });
  });

  /** How far an export has come whose worker is dead. */
  async function standing(jobId: string): Promise<unknown> {
    const { rows } = await rig.db.execute(
      `select phase, settled_count > ${MANY} as "knowsMany" from crawls where job_id = '${jobId}'`,
    );
    return rows[0];
  }
});

describe('a worker killed in the middle of a large file', () => {
  it('has another one fetch it once more, and leaves nothing of the first half behind', async () => {
    const film = Buffer.alloc(3_000_000, 'galley');
    const half = film.subarray(0, film.length / 2);
    const sent = createGate();
    let timesAsked = 0;
    const pages = serveFiles({ '/': '<video src="/film.mp4"></video>' });
    const filmSite = await startHttpSite((request, response) => {
      if (request.url !== '/film.mp4') return pages(request, response);
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': film.length });
      timesAsked += 1;
      if (timesAsked > 1) return response.end(film);
      return response.write(half, () => sent.open());
    });
    const limits = { maxBufferedBytes: 10_000 };
    const first = await startWorker('first', limits);
    const jobId = await rig.start({ origin: filmSite.origin });
    await sent.pass();
    await first.kill();
    await startWorker('second', limits);
    await rig.end(jobId);
    const { files } = await rig.read(jobId);
    expect(files.get('film.mp4')).toBe(film.toString());
    expect(timesAsked).toBe(2);
    expect(await leftByExports(rig, [jobId])).toEqual({ crawls: [jobId], keys: [] });
    await filmSite.close();
  });
});

describe('two workers', () => {
  it('share one export and make the same content as one', async () => {
    const alone = await startWorker('alone');
    const { manifest } = await rig.run({ origin: site.origin, settings: { incremental: false } });
    await alone.stop();
    // Slow enough that there is work for both.
    site.setHandler(async (request, response) => {
      await sleep(60);
      origin.handle(request, response);
    });
    const limits = {
      soloCrawlMs: 100,
      maxConcurrency: 2,
      initialConcurrency: 2,
      batchFiles: 20,
      parallelActivities: 4,
    };
    await Promise.all([startWorker('one', limits), startWorker('two', limits)]);
    const jobId = await rig.start({ origin: site.origin, settings: { incremental: false } });
    await rig.end(jobId);
    const shared = await rig.read(jobId);
    expect(shared.manifest.contentSha256).toBe(manifest.contentSha256);
    const { events } = await rig.temporal.client.workflow.getHandle(jobId).fetchHistory();
    const names = new Map(
      events?.map((event) => [String(event.eventId), event.activityTaskScheduledEventAttributes?.activityType?.name]),
    );
    const crawlers = events?.flatMap(({ activityTaskStartedEventAttributes: started }) =>
      started && names.get(String(started.scheduledEventId)) === 'crawlSite' ? [started.identity] : [],
    );
    expect(new Set(crawlers)).toEqual(new Set(['one', 'two']));
  });
});
