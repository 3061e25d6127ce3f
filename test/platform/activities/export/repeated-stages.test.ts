import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import {
  createPlatformActivities,
  type PlatformActivities,
} from '../../../../platform/activities/create-platform-activities.ts';
import { createBrowserPool } from '../../../../platform/activities/export/browser/browser-pool.ts';
import { createAdmission } from '../../../../platform/activities/export/crawl/admission.ts';
import { crawlFrontier } from '../../../../platform/activities/export/crawl/crawl-frontier.ts';
import { createStoredUrlsOfJobs } from '../../../../platform/activities/export/crawl/stored-urls.ts';
import { CRAWL_UNFINISHED } from '../../../../platform/activities/export/freeze-export.ts';
import { createJobMemory } from '../../../../platform/activities/export/job-memory.ts';
import { DEFAULT_LIMITS } from '../../../../platform/activities/export/limits.ts';
import { readCrawl } from '../../../../platform/activities/export/read-crawl.ts';
import { createSegmentStore, type SegmentStore } from '../../../../platform/activities/export/segment-store.ts';
import { getCrawl } from '../../../../platform/store/crawls.ts';
import { type FoundUrl, settleUrls } from '../../../../platform/store/frontier.ts';
import { getProject, updateProject } from '../../../../platform/store/projects.ts';
import { type DirectRig, startDirectRig } from '../../../helpers/direct-export.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../../../helpers/http-site.ts';

const logger = pino({ level: 'silent' });
const HOME = 'https://docs.example.com';

const SITE = serveFiles({
  '/': '<p>start',
  '/late': '<p>late',
  '/robots.txt': { body: '', status: 302, headers: { location: '/' } },
});

let rig: DirectRig;
let server: HttpSite;
let activities: PlatformActivities;

beforeAll(async () => {
  rig = await startDirectRig();
  server = await startHttpSite(SITE);
  activities = createPlatformActivities({ ...rig, logger });
});

beforeEach(() => server.setHandler(SITE));

afterAll(async () => {
  await server.close();
  await rig.stop();
});

function run<Result>(work: () => Promise<Result>): Promise<Result> {
  return new MockActivityEnvironment().run(work);
}

async function job(settings: Record<string, unknown> = {}): Promise<string> {
  return rig.addJob(await rig.addProject(server.origin, settings));
}

async function find(jobId: string, change: Partial<FoundUrl>): Promise<void> {
  const found = { url: `${HOME}/late`, rank: 4, depth: 1, foundOn: null, skip: null, take: false, ...change };
  await settleUrls(rig.db, { jobId, token: '', leaseMs: 60_000, settled: [], found: [found] });
}

async function statesOf(jobId: string): Promise<Map<string, string>> {
  const { rows } = await rig.db.execute<{ url: string; state: string }>(
    `select url, state from crawl_urls where job_id = '${jobId}'`,
  );
  return new Map(rows.map(({ url, state }) => [url, state]));
}

describe('a stage that is done again, or comes late', () => {
  it('counts what a visit of samples that was cut short had put in line, also an address that was left out before', async () => {
    const jobId = await job({ discover: 'browser' });
    await rig.runStages(jobId, { until: 'crawl' });
    await find(jobId, { rank: 0, skip: 'robots' });
    expect(await run(() => activities.visitSamples({ jobId }))).toMatchObject({ foundCount: 0 });
    await find(jobId, {});
    expect(await run(() => activities.visitSamples({ jobId }))).toMatchObject({ foundCount: 1 });
  });

  it('does not freeze while an address is in line or held, and takes it in once it was crawled', async () => {
    const jobId = await job();
    await rig.runStages(jobId, { until: 'crawl' });
    await find(jobId, { take: true });
    await expect(run(() => activities.freezeExport({ jobId }))).rejects.toMatchObject({ type: CRAWL_UNFINISHED });
    expect(await getCrawl(rig.db, jobId)).toMatchObject({ phase: 'crawling' });
    await rig.db.execute(`update crawl_urls set lease_until = now() where job_id = '${jobId}' and state = 'leased'`);
    await rig.runStages(jobId);
    expect((await rig.read(jobId)).files.has('late.html')).toBe(true);
  });

  it('goes by the settings that the export began with, not by those that its project has by now', async () => {
    const projectId = await rig.addProject(server.origin);
    const jobId = await rig.addJob(projectId);
    await rig.runStages(jobId, { until: 'open' });
    const project = await getProject(rig.db, projectId);
    if (project === undefined) throw new Error('The project is gone');
    await updateProject(rig.db, projectId, { settings: { ...project.settings, render: 'browser' } });
    expect(await run(() => activities.openExport({ jobId }))).toMatchObject({ state: 'open' });
  });

  it('leaves a page that is to be drawn to the crawl, though robots.txt led discovery to it', async () => {
    // Opening an export asks only whether there is a browser.
    const pool = createBrowserPool({ path: undefined, sandbox: true, searchPath: '', logger });
    const browser = { ...pool, trouble: async () => undefined };
    const drawing = createPlatformActivities({ ...rig, logger, browser });
    const [plain, drawn] = [await job(), await job({ render: 'browser' })];
    await run(() => drawing.openExport({ jobId: plain }));
    await run(() => drawing.openExport({ jobId: drawn }));
    expect((await statesOf(plain)).get(`${HOME}/`)).toBe('settled');
    expect((await statesOf(drawn)).get(`${HOME}/`)).toBe('queued');
    expect((await statesOf(drawn)).get(`${HOME}/robots.txt`)).toBe('settled');
  });

  it('settles what has come in while it settled the last of its time, though more is under way', async () => {
    const jobId = await job();
    await rig.runStages(jobId, { until: 'open' });
    await find(jobId, {});
    for (const name of ['later', 'never/1', 'never/2', 'never/3']) await find(jobId, { url: `${HOME}/${name}` });
    const { settings } = await readCrawl(rig.db, jobId);
    const segments = createSegmentStore({ objects: rig.objects, cacheBytes: 0 });
    const counts = { urlCount: 0, variants: new Map(), skips: new Map() };
    const admission = createAdmission({ settings, limits: DEFAULT_LIMITS, ...counts });
    const stored = createStoredUrlsOfJobs(createJobMemory()).of(jobId);
    const maxMs = 3_000;
    const endAt = Date.now() + maxMs;
    let comeLater = (): void => undefined;
    const later = new Promise<void>((resolve) => {
      comeLater = resolve;
    });
    const write: SegmentStore['write'] = async (...segment) => {
      await sleep(endAt + 20 - Date.now());
      comeLater();
      await segments.write(...segment);
    };
    const html = { contentType: 'text/html', isPage: true, sha256: '', path: '' };
    const file = { outcome: 'file', status: 200, ...html } as const;
    const [bytes, extraction] = [Buffer.from('<p>'), Buffer.alloc(0)];
    await crawlFrontier(
      { db: rig.db, segments: { ...segments, write }, limits: DEFAULT_LIMITS },
      {
        ...{ jobId, token: 'one', maxMs, graceMs: 0, signal: new AbortController().signal },
        ...{ admission, stored },
        visit: async (leased) => {
          if (leased.url === `${HOME}/later`) await later;
          else if (leased.url !== `${HOME}/late`) return new Promise(() => undefined);
          return { leased, result: { ...file, id: leased.id, bytes, extraction }, resources: [] };
        },
      },
    );
    const states = await statesOf(jobId);
    expect(['late', 'later'].map((name) => states.get(`${HOME}/${name}`))).toEqual(['settled', 'settled']);
  });
});
