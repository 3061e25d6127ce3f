import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExportLimits } from '../../../platform/activities/export/limits.ts';
import { getExportJob } from '../../../platform/store/export-jobs.ts';
import { type ExportRig, startExportRig } from '../../helpers/export-rig.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { holdStatements } from '../../helpers/kills/held-statements.ts';
import { leftByExports } from '../../helpers/kills/left-by-exports.ts';
import { startWorkerProcess, type WorkerProcess } from '../../helpers/platform-worker-process.ts';
import { startPostgres } from '../../helpers/postgres.ts';
import { bundleContent, changingOrigin, newSite } from '../activities/export/reuse/changing-site.ts';

const PAGES = 400;
const MEDIA = 24;

let rig: ExportRig;
let site: HttpSite;
let undisturbed: string;
let delayMs = 0;
const workers: WorkerProcess[] = [];

/** Bytes that no compression shrinks, the same in every run. */
function media(name: string): Buffer {
  const piece = createHash('sha256').update(name).digest();
  const blocks = Array.from({ length: 48_000 }, (_, index) =>
    createHash('md5').update(`${index}`).update(piece).digest(),
  );
  return Buffer.concat(blocks);
}

const mediaFiles = new Map(Array.from({ length: MEDIA }, (_, index) => [`/m${index}.bin`, media(`m${index}`)]));

/** Pages in a tree, so that the crawl takes several rounds, with a few large files. */
function pageOf(number: number): string {
  const links = Array.from({ length: 6 }, (_, child) => 6 * number + 1 + child).filter((next) => next < PAGES);
  const anchors = links.map((next) => `<a href="/p/${next}">${next}</a>`).join(' ');
  return `<!doctype html><title>${number}</title><p>Page ${number}</p>${anchors}<img src="/m${number % MEDIA}.bin"> <a href="/">home</a>`;
}

async function startWorker(identity: string, limits: Partial<ExportLimits> = {}): Promise<WorkerProcess> {
  const worker = await startWorkerProcess({ ...rig.addresses, identity, limits });
  workers.push(worker);
  return worker;
}

async function look(jobId: string): Promise<{ isRunning: boolean; activity: string | undefined }> {
  const { raw, status } = await rig.temporal.client.workflow.getHandle(jobId).describe();
  return {
    isRunning: status.name === 'RUNNING',
    activity: raw.pendingActivities?.[0]?.activityType?.name ?? undefined,
  };
}

/** Starts exports until one is seen at this activity: the first may have passed it between two looks. */
async function startUntilAt(activity: string): Promise<string> {
  for (;;) {
    const jobId = await rig.start({ origin: site.origin });
    for (let seen = await look(jobId); seen.isRunning; seen = await look(jobId)) {
      if (seen.activity === activity) return jobId;
    }
  }
}

/** Kills a worker at this activity and returns the export it had: one that came to its end meanwhile wasn't hit. */
async function killAt(activity: string, limits: Partial<ExportLimits>): Promise<string> {
  for (;;) {
    const worker = await startWorker('first', limits);
    const jobId = await startUntilAt(activity);
    await worker.kill();
    if ((await getExportJob(rig.db, jobId))?.status === 'running') return jobId;
  }
}

beforeAll(async () => {
  rig = await startExportRig(await startPostgres());
  site = await startHttpSite(async (request, response) => {
    await sleep(delayMs);
    const body = mediaFiles.get(request.url ?? '');
    const [, number] = /^\/p\/(\d+)$/.exec(request.url ?? '') ?? [];
    if (body !== undefined) response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(body);
    else if (request.url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(pageOf(0));
    else if (number === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('<title>no</title>');
    else response.writeHead(200, { 'content-type': 'text/html' }).end(pageOf(Number(number)));
  });
  const worker = await startWorker('undisturbed');
  const { manifest } = await rig.run({ origin: site.origin });
  expect(manifest.pageCount).toBe(PAGES);
  undisturbed = manifest.contentSha256;
  await worker.stop();
});

beforeEach(() => {
  site.requests.length = 0;
  delayMs = 0;
});

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill();
});

afterAll(async () => {
  await rig.stop();
  await site.close();
});

describe('a worker killed without warning', () => {
  it('while it crawls loses nothing: another one goes on with the same job', async () => {
    delayMs = 40;
    const first = await startWorker('first');
    const jobId = await rig.start({ origin: site.origin });
    while (site.requests.length < 150) await sleep(10);
    await first.kill();
    const fetchedAtKill = site.requests.length;
    expect(['beginExport', 'crawlSite']).toContain((await look(jobId)).activity);
    await startWorker('second');
    await rig.end(jobId);
    const { manifest } = await rig.read(jobId);
    expect(manifest.contentSha256).toBe(undisturbed);
    // Only what was under way is fetched again, not the site.
    expect(site.requests.length).toBeLessThan(PAGES + MEDIA + 150);
    expect(fetchedAtKill).toBeLessThan(PAGES);
  });

  it('while it rewrites, and again while it packs, loses nothing', async () => {
    for (const stage of ['rewriteFiles', 'packExport']) {
      const limits = { batchBytes: 1_000_000 };
      const jobId = await killAt(stage, limits);
      await startWorker('second', limits);
      await rig.end(jobId);
      const { manifest } = await rig.read(jobId);
      expect(manifest.contentSha256).toBe(undisturbed);
      for (const worker of workers.splice(0)) await worker.kill();
    }
  });
});

describe('a worker killed without warning during an incremental export', () => {
  const KNOWN_PAGES = 150;
  const EDITED = [3, 70, 149];
  /** More than are settled before the known pages are, and fewer than these. */
  const MANY = KNOWN_PAGES / 2;

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

  const editors = newSite(KNOWN_PAGES);
  const origin = changingOrigin(
    () => editors,
    () => 'etag',
  );
  let changing: HttpSite;

  beforeAll(async () => {
    changing = await startHttpSite(origin.handle);
  });

  afterAll(() => changing.close());

  it('loses nothing and leaves nothing behind, between the known pages and the archive', async () => {
    // However slow the machine is, nothing that is known shall be left to the crawl.
    const limits = { walkMs: 60_000 };
    const first = await startWorker('first', limits);
    const before = await Promise.all(POINTS.map(() => rig.run({ origin: changing.origin })));
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
      before.map(({ row: { projectId } }) => rig.start({ origin: changing.origin, projectId })),
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
    const full = bundleContent(await rig.run({ origin: changing.origin }));
    await Promise.all(jobIds.map(rig.end));
    const ended = await Promise.all(jobIds.map(rig.read));
    for (const bundle of ended) {
      expect(bundleContent(bundle)).toEqual(full);
      expect(bundle.report.reuse?.unchangedAddresses).toBeGreaterThanOrEqual(KNOWN_PAGES - EDITED.length);
    }
    expect(
      await leftByExports(
        rig,
        [...before, ...ended].map(({ row }) => row.id),
      ),
    ).toEqual({
      crawls: jobIds.toSorted(),
      keys: [],
    });
  });

  /** How far an export has come whose worker is dead. */
  async function standing(jobId: string): Promise<unknown> {
    const { rows } = await rig.db.execute(
      `select phase, settled_count > ${MANY} as "knowsMany" from crawls where job_id = '${jobId}'`,
    );
    return rows[0];
  }
});

describe('two workers', () => {
  it('share one export and make the same content as one', async () => {
    delayMs = 60;
    const limits = {
      soloCrawlMs: 300,
      maxConcurrency: 4,
      initialConcurrency: 4,
      batchFiles: 20,
      parallelActivities: 4,
    };
    await Promise.all([startWorker('one', limits), startWorker('two', limits)]);
    const jobId = await rig.start({ origin: site.origin });
    await rig.end(jobId);
    const { manifest } = await rig.read(jobId);
    expect(manifest.contentSha256).toBe(undisturbed);
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
