import { crawlFrontier } from '../../../../exporter/crawl/crawl-frontier.ts';
import { createCrawlScope } from '../../../../exporter/crawl/crawl-scope.ts';
import { rememberStoredUrls } from '../../../../exporter/crawl/report-urls.ts';
import { createJobCache } from '../../../../exporter/job-cache.ts';
import { DEFAULT_LIMITS } from '../../../../exporter/limits.ts';
import { BrowserPool } from '../../../../exporter/render/browser-pool.ts';
import { readCrawl } from '../../../../exporter/settings.ts';
import { createSegmentStore, type SegmentStore } from '../../../../exporter/store/segment-store.ts';
import { createPlatformActivities } from '../../../../platform/activities/create-platform-activities.ts';
import { createCrawlStore } from '../../../../platform/store/crawl-store.ts';
import { getCrawl } from '../../../../platform/store/crawls.ts';
import { getProject, updateProject } from '../../../../platform/store/projects.ts';
import { HOME, logger, runActivity, SITE, type StagesFixture, startStagesFixture } from './stages-fixture.ts';

let stages: StagesFixture;

beforeAll(async () => {
  stages = await startStagesFixture();
});

beforeEach(() => stages.server.setHandler(SITE));

afterAll(() => stages.stop());

describe('a stage that is repeated or late', () => {
  it('counts URLs that an interrupted visit of samples enqueued, also a URL that was skipped before', async () => {
    const jobId = await stages.job({ discover: 'browser' });
    await stages.rig.runStages(jobId, { until: 'crawl' });
    await stages.find(jobId, [{ url: `${HOME}/late`, rank: 0, skip: 'robots' }]);
    expect(await runActivity(() => stages.activities.visitSamples({ jobId }))).toMatchObject({ foundCount: 0 });
    await stages.find(jobId, [{ url: `${HOME}/late` }]);
    expect(await runActivity(() => stages.activities.visitSamples({ jobId }))).toMatchObject({ foundCount: 1 });
  });

  it('does not freeze while a URL is queued or leased, and includes it once it is crawled', async () => {
    const jobId = await stages.job();
    await stages.rig.runStages(jobId, { until: 'crawl' });
    await stages.find(jobId, [{ url: `${HOME}/late`, take: true }]);
    await expect(runActivity(() => stages.activities.freezeExport({ jobId }))).rejects.toMatchObject({
      type: 'CrawlUnfinished',
    });
    expect(await getCrawl(stages.rig.db, jobId)).toMatchObject({ phase: 'crawling' });
    await stages.rig.db.execute(
      `update crawl_urls set lease_until = now() where job_id = '${jobId}' and state = 'leased'`,
    );
    await stages.rig.runStages(jobId);
    expect((await stages.rig.read(jobId)).files.has('late.html')).toBe(true);
  });

  it('keeps the settings that the export started with if the project changes', async () => {
    const projectId = await stages.rig.addProject(stages.server.origin);
    const jobId = await stages.rig.addJob(projectId);
    await stages.rig.runStages(jobId, { until: 'open' });
    const project = await getProject(stages.rig.db, projectId);
    if (project === undefined) throw new Error('The project is gone');
    await updateProject(stages.rig.db, projectId, { settings: { ...project.settings, render: 'browser' } });
    expect(await runActivity(() => stages.activities.openExport({ jobId }))).toMatchObject({ state: 'open' });
  });

  it('leaves a page that needs rendering to the crawl, although robots.txt redirects to it', async () => {
    // Opening an export only checks that a browser is available.
    const pool = new BrowserPool({ path: undefined, sandbox: true, searchPath: '', logger });
    const browser = Object.assign(pool, { trouble: async () => undefined });
    const activities = createPlatformActivities({ ...stages.rig, logger, browser });
    const [plain, rendered] = [await stages.job(), await stages.job({ render: 'browser' })];
    await runActivity(() => activities.openExport({ jobId: plain }));
    await runActivity(() => activities.openExport({ jobId: rendered }));
    expect((await stages.statesOf(plain)).get(`${HOME}/`)).toBe('settled');
    expect((await stages.statesOf(rendered)).get(`${HOME}/`)).toBe('queued');
    expect((await stages.statesOf(rendered)).get(`${HOME}/robots.txt`)).toBe('settled');
  });

  it('settles visits that end during its last settling, although other visits are still running', async () => {
    const jobId = await stages.job();
    await stages.rig.runStages(jobId, { until: 'open' });
    await stages.find(jobId, [{ url: `${HOME}/late` }]);
    for (const name of ['later', 'never/1', 'never/2', 'never/3'])
      await stages.find(jobId, [{ url: `${HOME}/${name}` }]);
    const { settings } = await readCrawl(createCrawlStore(stages.rig.db), jobId);
    const segments = createSegmentStore({ objects: stages.rig.objects, cacheBytes: 0 });
    const counts = { urlCount: 0, variants: new Map(), skips: new Map(), guessCount: 0 };
    const scope = createCrawlScope({ settings, limits: DEFAULT_LIMITS, ...counts });
    const stored = rememberStoredUrls(createJobCache())(jobId);
    const maxMs = 60_000;
    let aheadMs = 0;
    let endLater = (): void => undefined;
    const later = new Promise<void>((resolve) => {
      endLater = resolve;
    });
    const write: SegmentStore['write'] = async (...segment) => {
      aheadMs = maxMs;
      endLater();
      await segments.write(...segment);
    };
    const html = { contentType: 'text/html', isPage: true, sha256: '', path: '' };
    const file = { outcome: 'file', status: 200, ...html } as const;
    const [bytes, extraction] = [Buffer.from('<p>'), Buffer.alloc(0)];
    await crawlFrontier(
      { store: createCrawlStore(stages.rig.db), segments: { ...segments, write }, limits: DEFAULT_LIMITS },
      {
        ...{ jobId, token: 'one', maxMs, graceMs: 0, signal: new AbortController().signal },
        now: () => Date.now() + aheadMs,
        ...{ scope, stored, keepsLinks: true },
        visit: async (leased) => {
          if (leased.url === `${HOME}/later`) await later;
          else if (leased.url !== `${HOME}/late`) return new Promise(() => undefined);
          return { leased, result: { ...file, id: leased.id, bytes, extraction }, resources: [] };
        },
      },
    );
    const states = await stages.statesOf(jobId);
    expect(['late', 'later'].map((name) => states.get(`${HOME}/${name}`))).toEqual(['settled', 'settled']);
  });
});
