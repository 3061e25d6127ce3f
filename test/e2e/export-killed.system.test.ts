import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { bundle, type ExportReport, exportJob, exportReport } from '../../contract/admin-api.ts';
import type { BundleManifest } from '../../contract/bundle.ts';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import { pick } from '../helpers/generated-site/seeded.ts';
import { type GeneratedSite, startGeneratedSite } from '../helpers/generated-site.ts';
import { momentOf } from '../helpers/kills/export-moment.ts';
import { readArchive } from '../helpers/kills/read-archive.ts';
import { planStrikes, type Strike } from '../helpers/kills/strikes.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { startS3, type TestS3 } from '../helpers/s3.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { killPostgres } from '../helpers/system/kill-postgres.ts';
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

  /** Rows and objects that exports left behind, except their archives and reports. */
  const leftovers = async (): Promise<unknown[]> => {
    const { rows } = await pool.query<{ left: string }>(`
      select 'crawl ' || job_id as left from crawls union all
      select 'address ' || job_id from crawl_urls union all select 'batch ' || job_id from crawl_batches`);
    const objects = await createObjectStore({ url: s3.url });
    const keys: string[] = [];
    for await (const each of objects.list('')) if (!/^(bundles|reports)\//.test(each)) keys.push(each);
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

  scenario('builds the same bundle even if workers, PostgreSQL and the S3 server are killed meanwhile', async () => {
    const undisturbed = await end(await start());
    // robots.txt is fetched twice: for its rules, and as a file of the site.
    expect(undisturbed.repeated).toBeLessThanOrEqual(1);
    expect(await leftovers()).toEqual([]);

    const jobId = await start();
    const strikes = planStrikes(SEED);
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
  });
});
