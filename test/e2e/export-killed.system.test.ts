import { execFile } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { extract } from 'tar-stream';
import { bundle, type ExportReport, exportJob, exportReport } from '../../contract/admin-api.ts';
import { type BundleManifest, bundleManifest, contentDigestLine, MANIFEST_PATH } from '../../contract/bundle.ts';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import { hash32, pick, share } from '../helpers/generated-site/seeded.ts';
import { type GeneratedSite, startGeneratedSite } from '../helpers/generated-site.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { startS3, type TestS3 } from '../helpers/s3.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { type PlatformService, startPlatformService } from '../helpers/system/platform-service.ts';
import { createPrograms, type Programs } from '../helpers/system/programs.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { startTemporalServer, type TemporalServer } from '../helpers/system/temporal-server.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { unsyncedFolder } from '../helpers/unsynced-folder.ts';

const PAGES = 10_000;
const DOMAIN = 'docs.example.test';
const WORKERS = ['platform-worker', 'platform-worker-2', 'platform-worker-2-2'] as const;
const SEED = Number(process.env.TEST_SEED ?? randomInt(1_000_000));
/** Requests that one kill may repeat: the URLs that four activities hold or have fetched without saving them. */
const REPEATED_PER_KILL = 4 * (96 + 64);

type Ended = { manifest: BundleManifest; report: Omit<ExportReport, 'jobId'>; requests: number; repeated: number };

describe('an export of 10,000 pages by three workers', () => {
  const cleanups = createCleanups();
  let site: GeneratedSite;
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  let pool: pg.Pool;
  let s3: TestS3;
  let temporal: TemporalServer;
  let programs: Programs;
  let platform: PlatformService;
  let key: string;
  const scenario = scenarios(() => ({ programs }));

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'galley-kills-'));
    cleanups.add(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
    const galley = await builtGalley();
    site = await startGeneratedSite({ pages: PAGES, pageBytes: 200 });
    cleanups.add(site.stop);
    postgres = await startPostgres();
    cleanups.add(postgres.stop);
    pool = new pg.Pool({ connectionString: postgres.url, max: 2 });
    pool.on('error', () => undefined);
    cleanups.add(() => pool.end());
    s3 = await startS3();
    cleanups.add(s3.stop);
    const unsynced = await unsyncedFolder('galley-temporal-');
    cleanups.add(() => rm(unsynced, { recursive: true, force: true, maxRetries: 3 }));
    temporal = await startTemporalServer(join(unsynced, 'temporal.db'));
    cleanups.add(temporal.stop);
    programs = createPrograms(galley);
    cleanups.add(programs.stop);
    const { accessKeyId, secretAccessKey } = s3.credentials;
    const credentials = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
    Object.assign(process.env, credentials);
    platform = await startPlatformService({
      ...{ folder, programs, galley, databaseUrl: postgres.url, objectStoreUrl: s3.url },
      temporalAddress: temporal.address,
      variables: { ...credentials, LOG_LEVEL: 'warn' },
    });
    await Promise.all([programs.double(WORKERS[0]), programs.double(WORKERS[1])]);
    ({ key } = await platform.createKey());
    await platform.addProject({ name: 'docs', domain: DOMAIN, origin: site.url });
    // Each export must fetch and build everything again.
    await pool.query(`update projects set settings = settings || '{"incremental": false}'`);
  });

  afterAll(() => cleanups.run());

  /** Calls the platform until it responds with anything but 503, which it sends while its database is down. */
  const call = async (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> => {
    const { status, text } = await waitFor(
      async () => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const sent = body === undefined ? {} : { body: JSON.stringify(body) };
        const response = await fetch(`${platform.url}/v1/static-export/jobs${path}`, { method, headers, ...sent });
        return response.status !== 503 && { status: response.status, text: await response.text() };
      },
      { describe: `responded to ${method} ${path}` },
    );
    if (status >= 300) throw new Error(`The platform responded to ${method} ${path} with ${status}: ${text}`);
    return JSON.parse(text);
  };

  const start = async (): Promise<string> => {
    await site.resetCounts();
    return exportJob.parse(await call('POST', '', { domain: DOMAIN })).jobId;
  };

  const end = async (jobId: string): Promise<Ended> => {
    const job = await waitFor(
      async () => {
        const seen = exportJob.parse(await call('GET', `/${jobId}`));
        return (seen.status === 'completed' || seen.status === 'failed') && seen;
      },
      { describe: `ended ${jobId}`, timeoutMs: 1_200_000 },
    );
    expect(job).toMatchObject({ status: 'completed', pageCount: PAGES, progress: 100, error: null });
    const { bundleUrl } = bundle.parse(await call('POST', `/${jobId}/bundle`));
    const { jobId: _, ...report } = exportReport.parse(await call('GET', `/${jobId}/report`));
    const { requests, repeated } = await site.requestCounts();
    await temporal.client.workflow.getHandle(jobId).result();
    return { manifest: await readArchive(bundleUrl), report, requests, repeated };
  };

  /** Rows and objects that exports left behind, except their archives and reports. `owners/` names the store's database. */
  const leftovers = async (): Promise<unknown[]> => {
    const { rows } = await pool.query<{ left: string }>(`
      select 'crawl ' || job_id as left from crawls union all
      select 'address ' || job_id from crawl_urls union all select 'batch ' || job_id from crawl_batches`);
    const objects = await createObjectStore({ url: s3.url });
    const keys: string[] = [];
    for await (const each of objects.list('')) if (!/^(bundles|reports|owners)\//.test(each)) keys.push(each);
    await objects.close();
    return [...rows, ...keys];
  };

  const strike = async ({ victim, by }: Strike, restarts: Map<string, Promise<unknown>>): Promise<string> => {
    if (victim === 'postgres') {
      await killPostgres(postgres.url);
      await postgres.restart();
      return 'PostgreSQL';
    }
    if (victim === 's3') {
      await s3.kill();
      await s3.restart();
      return 'the S3 server';
    }
    const ready = await waitFor(() => WORKERS.filter((name) => !restarts.has(name)), {
      describe: 'had a running worker',
    });
    const name = pick(ready, by);
    await programs.kill(name);
    restarts.set(
      name,
      programs.restart(name).finally(() => restarts.delete(name)),
    );
    return name;
  };

  let undisturbed: Ended;

  /** Runs an export during these kills, and compares its result with that of the undisturbed one. */
  const disturb = async (strikes: readonly Strike[]): Promise<Ended> => {
    const jobId = await start();
    const restarts = new Map<string, Promise<unknown>>();
    const log: string[] = [];
    for (const each of strikes) {
      await waitFor(
        async () => {
          const seen = await momentOf(pool, jobId, undisturbed.requests);
          return (
            seen !== undefined && (seen.stage === each.stage ? seen.share >= each.atShare : seen.stage === 'rewriting')
          );
        },
        { describe: `reached ${each.atShare} of ${each.stage} with seed ${SEED}`, everyMs: 20, timeoutMs: 600_000 },
      );
      const struck = await strike(each, restarts);
      log.push(`${struck} at ${Math.round(100 * each.atShare)} % of ${each.stage}`);
    }
    await Promise.all(restarts.values());
    const disturbed = await end(jobId);

    process.stdout.write(
      `Seed ${SEED}: killed ${log.join(', ')}. ${disturbed.repeated} of ${disturbed.requests} requests were repeated.\n`,
    );
    expect(disturbed.manifest.contentSha256).toBe(undisturbed.manifest.contentSha256);
    expect(disturbed.manifest.files).toEqual(undisturbed.manifest.files);
    expect(disturbed.report).toEqual(undisturbed.report);
    const killsOfCrawl = strikes.filter(({ stage }) => stage === 'crawling').length;
    expect(disturbed.repeated).toBeLessThan(killsOfCrawl * REPEATED_PER_KILL);
    expect(await leftovers()).toEqual([]);
    return disturbed;
  };

  scenario('fetches each URL once and leaves nothing behind', async () => {
    undisturbed = await end(await start());
    // robots.txt is fetched twice: for its rules, and as a file of the site.
    expect(undisturbed.repeated).toBeLessThanOrEqual(1);
    expect(undisturbed.report.unread).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });

  scenario('builds the same bundle even if workers, PostgreSQL and the S3 server are killed meanwhile', async () => {
    await disturb(planStrikes(SEED));
  });

  scenario('builds the same bundle and blames no document for 20 kills of whole workers', async () => {
    const strikes = planWorkerKills(SEED);
    expect(strikes).toHaveLength(20);
    const { report } = await disturb(strikes);
    expect(report.unread).toEqual([]);
  });
});

/** Downloads an archive and returns its manifest. Throws unless the files match the manifest. */
async function readArchive(link: string): Promise<BundleManifest> {
  const response = await fetch(link);
  const hashes = new Map<string, string>();
  let manifest: BundleManifest | undefined;
  const tar = extract();
  tar.end(gunzipSync(Buffer.from(await response.arrayBuffer())));
  for await (const entry of tar) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (entry.header.name === MANIFEST_PATH) manifest = bundleManifest.parse(JSON.parse(bytes.toString('utf8')));
    else hashes.set(entry.header.name, createHash('sha256').update(bytes).digest('hex'));
  }
  if (manifest === undefined) throw new Error('The archive has no manifest');
  const wrong = manifest.files.filter(({ path, sha256 }) => hashes.get(path) !== sha256);
  if (wrong.length > 0 || hashes.size !== manifest.files.length) {
    throw new Error(`The archive does not match its manifest, for example ${wrong[0]?.path}`);
  }
  const content = createHash('sha256');
  for (const file of manifest.files) content.update(contentDigestLine(file));
  if (content.digest('hex') !== manifest.contentSha256) throw new Error('The manifest has a wrong contentSha256');
  return manifest;
}

type Victim = 'worker' | 'postgres' | 's3';

/** What is killed, and at which share of a stage's work. `by` selects one of several workers. */
type Strike = { victim: Victim; stage: ExportMoment['stage']; atShare: number; by: number };

/**
 * Plans kills at random moments of crawling and rewriting, in order of time. Each stage kills every kind of victim at
 * least once. The seed determines the plan.
 */
function planStrikes(seed: number): Strike[] {
  const plan = (
    stage: Strike['stage'],
    victims: readonly Victim[],
    [from, to]: readonly [number, number],
  ): Strike[] => {
    const salt = stage === 'crawling' ? 1 : 2;
    const order = victims.map((victim, index) => ({ victim, rank: hash32(seed, salt, index) }));
    const moments = victims.map((_, index) => from + (to - from) * share(seed, salt, index, 3)).sort((a, b) => a - b);
    return order
      .sort((a, b) => a.rank - b.rank)
      .map(({ victim }, index) => ({ victim, stage, atShare: moments[index] ?? to, by: share(seed, salt, index, 4) }));
  };
  return [
    ...plan('crawling', ['worker', 'worker', 'worker', 'postgres', 's3'], [0.03, 0.9]),
    // Rewriting takes only seconds, so kills after half of it could be too late.
    ...plan('rewriting', ['worker', 'postgres', 's3'], [0, 0.5]),
  ];
}

/** Plans 20 kills of workers: 17 spread over the crawl, and 3 while rewriting. */
function planWorkerKills(seed: number): Strike[] {
  const kill = (stage: Strike['stage'], atShare: number, index: number): Strike => {
    return { victim: 'worker', stage, atShare, by: share(seed, 3, index, 4) };
  };
  return [
    ...Array.from({ length: 17 }, (_, index) => kill('crawling', 0.02 + 0.05 * index, index)),
    ...[0, 0.2, 0.4].map((atShare, index) => kill('rewriting', atShare, 17 + index)),
  ];
}

const run = promisify(execFile);

/** Kills all processes of a local PostgreSQL server at once, like a power cut. */
async function killPostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  client.on('error', () => undefined);
  const { rows } = await client.query<{ data_directory: string }>('show data_directory');
  const [line] = (await readFile(join(rows[0]?.data_directory ?? '', 'postmaster.pid'), 'utf8')).split('\n');
  const postmaster = Number(line);
  // Suspend it first, so that it starts no more children meanwhile.
  process.kill(postmaster, 'SIGSTOP');
  const children = (await processes()).filter(({ parent }) => parent === postmaster);
  const all = new Set([postmaster, ...children.map(({ pid }) => pid)]);
  for (const pid of all) kill(pid);
  await waitFor(async () => !(await processes()).some(({ pid }) => all.has(pid)), {
    describe: 'saw the end of PostgreSQL',
  });
  await client.end().catch(() => undefined);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
}

/** Every running process, without zombies. */
async function processes(): Promise<{ pid: number; parent: number }[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,stat=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, state = 'Z'] = line.trim().split(/\s+/);
    return state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent) }];
  });
}

/** An export's progress within a stage, from 0 to 1. */
type ExportMoment = { stage: 'crawling' | 'rewriting'; share: number };

const PROGRESS_QUERY = `
  select phase, settled_count::float8 as settled,
    (select count(*) from crawl_batches b where b.job_id = c.job_id)::float8 as total,
    (select count(*) from crawl_batches b where b.job_id = c.job_id and state = 'settled')::float8 as made
  from crawls c where job_id = $1`;

/** Reads a job's progress. `undefined` before the crawl, after the export, and while the database is down. */
async function momentOf(pool: pg.Pool, jobId: string, urlCount: number): Promise<ExportMoment | undefined> {
  try {
    const { rows } = await pool.query<{ phase: string; settled: number; total: number; made: number }>(PROGRESS_QUERY, [
      jobId,
    ]);
    const [row] = rows;
    if (row === undefined) return undefined;
    if (row.phase === 'crawling') return { stage: 'crawling', share: row.settled / urlCount };
    return { stage: 'rewriting', share: row.total === 0 ? 0 : row.made / row.total };
  } catch {
    return undefined;
  }
}
