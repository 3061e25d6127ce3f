import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { ExportLimits } from '../../../exporter/limits.ts';
import { bundleContent, changingOrigin, newSite } from '../../exporter/reuse/changing-site.ts';
import { type ExportRig, startExportRig } from '../../helpers/export-rig.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { startWorkerProcess, type WorkerProcess } from '../../helpers/platform-worker-process.ts';
import { startPostgres } from '../../helpers/postgres.ts';
import { createGate } from '../../helpers/system/gate.ts';

const PAGES = 250;

const editors = newSite(PAGES);
// The start page links to all pages, so that there is soon enough work to share.
editors.pages.get(0)?.links.push(...editors.pages.keys());
const origin = changingOrigin(
  () => editors,
  () => 'etag',
);

let fixture: ExportRig;
let site: HttpSite;
const workers: WorkerProcess[] = [];

async function startWorker(identity: string, limits: Partial<ExportLimits> = {}): Promise<WorkerProcess> {
  const worker = await startWorkerProcess({ ...fixture.addresses, identity, limits });
  workers.push(worker);
  return worker;
}

beforeAll(async () => {
  fixture = await startExportRig(await startPostgres());
  site = await startHttpSite(origin.handle);
});

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill();
});

afterAll(async () => {
  await fixture.stop();
  await site.close();
});

/** test/e2e/export-killed covers kills during full exports. */
describe('a worker killed without warning during an incremental export', () => {
  const EDITED = [3, 70, 249];
  /** More than are settled before the revalidated pages, but fewer than those. */
  const MANY = PAGES / 2;

  const SETTLED_MANY = `(select settled_count > ${MANY} from crawls where job_id = new.job_id)`;
  /** The moments of the kill, as SQL conditions on the row that the worker is about to write. */
  const POINTS = [
    // The changed pages are enqueued, and only this worker has their responses.
    { table: 'crawl_urls', column: 'job_id', when: `new.state = 'leased' and tg_op = 'UPDATE'` },
    // The unchanged pages are settled, but the transaction is not committed.
    { table: 'crawls', column: 'job_id', when: `new.settled_count > ${MANY}` },
    // The transaction is committed, and the changed pages are about to be settled.
    { table: 'crawl_urls', column: 'job_id', when: `new.state = 'settled' and ${SETTLED_MANY}` },
    // The archive is in the store, but not yet recorded.
    { table: 'export_jobs', column: 'id', when: `new.status = 'completed'` },
  ];

  it('loses nothing and leaves nothing behind, at any step of the revalidation or the archive', async () => {
    // Long enough that even a slow machine revalidates every page before the crawl.
    const limits = { revalidateMs: 60_000 };
    const first = await startWorker('first', limits);
    const before = await Promise.all(POINTS.map(() => fixture.run({ origin: site.origin })));
    for (const page of EDITED) editors.pages.set(page, { text: 'New', links: [1], pictures: [], movedTo: null });
    const held = await holdStatements(
      fixture.addresses.databaseUrl,
      POINTS.map(({ table, column, when }, index) => {
        const { projectId = '', id = '' } = before[index]?.row ?? {};
        const next = `select id from export_jobs where project_id = '${projectId}' and id <> '${id}'`;
        return { table, when: `new.${column} in (${next}) and ${when}` };
      }),
    );
    const jobIds = await Promise.all(
      before.map(({ row: { projectId } }) => fixture.start({ origin: site.origin, projectId })),
    );
    await held.untilAllHeld();
    await first.kill();
    await held.giveUp();
    expect(await Promise.all(jobIds.map(progressOf))).toEqual([
      { phase: 'crawling', hasSettledMany: false },
      { phase: 'crawling', hasSettledMany: false },
      { phase: 'crawling', hasSettledMany: true },
      { phase: 'frozen', hasSettledMany: true },
    ]);

    await startWorker('second', limits);
    const full = bundleContent(await fixture.run({ origin: site.origin }));
    await Promise.all(jobIds.map(fixture.end));
    const ended = await Promise.all(jobIds.map(fixture.read));
    for (const bundle of ended) {
      expect(bundleContent(bundle)).toEqual(full);
      expect(bundle.report.reuse?.unchangedAddresses).toBeGreaterThanOrEqual(PAGES - EDITED.length);
    }
    expect(
      await leftByExports(
        fixture,
        [...before, ...ended].map(({ row }) => row.id),
      ),
    ).toEqual({ crawls: jobIds.toSorted(), keys: [] });
  });

  /** The progress of an export whose worker was killed. */
  async function progressOf(jobId: string): Promise<unknown> {
    const { rows } = await fixture.db.execute(
      `select phase, settled_count > ${MANY} as "hasSettledMany" from crawls where job_id = '${jobId}'`,
    );
    return rows[0];
  }
});

describe('a worker killed in the middle of a large file', () => {
  it('is replaced by another one, which fetches the file again and leaves no partial file behind', async () => {
    const film = Buffer.alloc(3_000_000, 'galley');
    const half = film.subarray(0, film.length / 2);
    const sent = createGate();
    let requestCount = 0;
    const pages = serveFiles({ '/': '<video src="/film.mp4"></video>' });
    const filmSite = await startHttpSite((request, response) => {
      if (request.url !== '/film.mp4') return pages(request, response);
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': film.length });
      requestCount += 1;
      if (requestCount > 1) return response.end(film);
      return response.write(half, () => sent.open());
    });
    const limits = { maxBufferedBytes: 10_000 };
    const first = await startWorker('first', limits);
    const jobId = await fixture.start({ origin: filmSite.origin });
    await sent.pass();
    await first.kill();
    await startWorker('second', limits);
    await fixture.end(jobId);
    const { files } = await fixture.read(jobId);
    expect(files.get('film.mp4')).toBe(film.toString());
    expect(requestCount).toBe(2);
    expect(await leftByExports(fixture, [jobId])).toEqual({ crawls: [jobId], keys: [] });
    await filmSite.close();
  });
});

describe('two workers', () => {
  it('share one export and create the same content as one worker', async () => {
    const alone = await startWorker('alone');
    const { manifest } = await fixture.run({ origin: site.origin, settings: { incremental: false } });
    await alone.stop();
    // Slows the origin down, so that there is work for both.
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
    const jobId = await fixture.start({ origin: site.origin, settings: { incremental: false } });
    await fixture.end(jobId);
    const shared = await fixture.read(jobId);
    expect(shared.manifest.contentSha256).toBe(manifest.contentSha256);
    const { events } = await fixture.temporal.client.workflow.getHandle(jobId).fetchHistory();
    const names = new Map(
      events?.map((event) => [String(event.eventId), event.activityTaskScheduledEventAttributes?.activityType?.name]),
    );
    const crawlers = events?.flatMap(({ activityTaskStartedEventAttributes: started }) =>
      started && names.get(String(started.scheduledEventId)) === 'crawlSite' ? [started.identity] : [],
    );
    expect(new Set(crawlers)).toEqual(new Set(['one', 'two']));
  });
});

/** The crawls that ended exports left in the database, and the objects in the store that no row refers to. */
async function leftByExports(
  { db, objects }: Pick<ExportRig, 'db' | 'objects'>,
  jobIds: readonly string[],
): Promise<{ crawls: string[]; keys: string[] }> {
  const ids = jobIds.map((id) => `'${id}'`).join();
  const { rows } = await db.execute<{ kind: string; name: string }>(`
    select 'crawl' as kind, job_id as name from crawls where job_id in (${ids})
    union select 'crawl', job_id from crawl_urls where job_id in (${ids})
    union select 'crawl', job_id from crawl_batches where job_id in (${ids})
    union select 'key', object_key from crawl_urls where job_id in (${ids})
    union select 'key', archive_key from export_jobs where status = 'completed' order by name`);
  const named = (kind: string) => rows.flatMap((row) => (row.kind === kind ? row.name : []));
  const needed = new Set(named('key'));
  const keys: string[] = [];
  for (const prefix of ['bundles/', ...jobIds.map((id) => `exports/${id}/`)]) {
    for await (const key of objects.list(prefix)) if (!needed.has(key)) keys.push(key);
  }
  return { crawls: named('crawl'), keys };
}

/** Where to block a process: before it writes a row of this table that fulfills the condition. */
type HoldPoint = {
  table: string;
  /** SQL condition on `new`, the row to be written. */
  when: string;
};

type HeldStatements = {
  /** Waits until a process is blocked at each point. */
  untilAllHeld(): Promise<void>;
  /** Rolls back the blocked statements, whose processes were killed, and blocks no more processes. */
  giveUp(): Promise<void>;
};

const LOCK = 4_711;
const WAITING = `select pid from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted`;

/** Blocks processes at certain database writes, so that a test can kill them there. */
async function holdStatements(databaseUrl: string, points: readonly HoldPoint[]): Promise<HeldStatements> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`select pg_advisory_lock(${LOCK})`);
  for (const [index, { table, when }] of points.entries()) {
    const name = `hold_${index}`;
    await client.query(`
      create function ${name}() returns trigger language plpgsql as $$ begin
        if ${when} then perform pg_advisory_xact_lock_shared(${LOCK}); end if;
        return new;
      end $$;
      create trigger ${name} before insert or update on ${table} for each row execute function ${name}()`);
  }

  async function until(condition: (heldCount: number) => boolean): Promise<void> {
    while (!condition((await client.query(WAITING)).rows.length)) await sleep(20);
  }

  return {
    untilAllHeld: () => until((heldCount) => heldCount >= points.length),
    async giveUp() {
      await client.query(`select pg_terminate_backend(pid) from (${WAITING}) held`);
      await until((heldCount) => heldCount === 0);
      for (const index of points.keys()) await client.query(`drop function hold_${index} cascade`);
      await client.end();
    },
  };
}
