import { MockActivityEnvironment } from '@temporalio/testing';
import { DEFAULT_LIMITS } from '../../../../exporter/limits.ts';
import {
  createPlatformActivities,
  type PlatformActivities,
} from '../../../../platform/activities/create-platform-activities.ts';
import { beginExport } from '../../../../platform/activities/export/begin-export.ts';
import { createCrawlStore } from '../../../../platform/store/crawl-store.ts';
import { getCrawl } from '../../../../platform/store/crawls.ts';
import { serveFiles } from '../../../helpers/http-site.ts';
import { createGate } from '../../../helpers/system/gate.ts';
import { HOME, logger, runActivity, SITE, type StagesFixture, startStagesFixture } from './stages-fixture.ts';

let stages: StagesFixture;

beforeAll(async () => {
  stages = await startStagesFixture();
});

beforeEach(() => stages.server.setHandler(SITE));

afterAll(() => stages.stop());

describe('the beginning of an export', () => {
  it('requests the start page while it loads the sitemap, and enqueues the links of both', async () => {
    const files = {
      '/': '<a href="/linked">',
      '/sitemap.xml': `<urlset><url><loc>${HOME}/listed</loc></url></urlset>`,
    };
    const startRequested = createGate();
    stages.server.setHandler(async (request, response) => {
      if (request.url === '/') startRequested.open();
      if (request.url === '/sitemap.xml') await startRequested.pass();
      return serveFiles(files)(request, response);
    });
    const jobId = await stages.job();
    const requests = await requestsOf(() => stages.activities.openExport({ jobId }));
    // The first pages are asked for a twin in Markdown.
    expect(requests.sort()).toEqual(['/', '/index.html.md', '/index.md', '/robots.txt', '/sitemap.xml']);
    const states = await stages.statesOf(jobId);
    const urlStates = ['/', '/sitemap.xml', '/linked', '/listed', '/404.html'].map((path) => states.get(HOME + path));
    expect(urlStates).toEqual(['settled', 'settled', 'queued', 'queued', 'queued']);
    // A retry keeps the robots.txt of the first attempt.
    expect(await requestsOf(() => stages.activities.openExport({ jobId }))).toEqual(['/sitemap.xml']);
  });

  it('completes a small site, and repeats no work if its result is lost', async () => {
    const activities = createPlatformActivities({ ...stages.rig, logger, limits: { soloCrawlMs: 60_000 } });
    const jobId = await stages.job();
    const first = await runActivity(() => activities.beginExport({ jobId }));
    expect(first).toMatchObject({ state: 'open', rest: { done: true }, packed: { state: 'completed', pageCount: 1 } });
    const requestCount = stages.server.requests.length;
    const again = await new MockActivityEnvironment({ attempt: 2 }).run(() => activities.beginExport({ jobId }));
    expect(again).toEqual({ ...first, rest: null, packed: null });
    expect(stages.server.requests).toHaveLength(requestCount);
    expect(await runActivity(() => stages.activities.packExport({ jobId }))).toMatchObject({
      state: 'completed',
      pageCount: 1,
    });
  });

  it.each([
    { left: 3, rounds: 2 },
    { left: 30, rounds: 1 },
  ])('crawls for $rounds rounds if $left URLs are left after about a dozen', async ({ left, rounds }) => {
    const count = 10;
    const links = Array.from({ length: count }, (_, index) => `<a href="/${index + 1}">`).join('');
    stages.server.setHandler(serveFiles({ '/': links, ...pages(count) }));
    const activities = createPlatformActivities({ ...stages.rig, logger, limits: { soloCrawlMs: 60_000 } });
    const jobId = await stages.job();
    let crawlRounds = 0;
    const crawlSite: PlatformActivities['crawlSite'] = async (input) => {
      const rest = await activities.crawlSite(input);
      crawlRounds += 1;
      if (crawlRounds > 1) return rest;
      // As if the time had run out before these URLs.
      await stages.find(
        jobId,
        Array.from({ length: left }, (_, index) => ({ url: `${HOME}/left/${index}` })),
      );
      return { done: false, queuedCount: left };
    };
    const { packed } = await runActivity(() =>
      beginExport(
        { store: createCrawlStore(stages.rig.db), limits: DEFAULT_LIMITS, db: stages.rig.db },
        { ...activities, crawlSite },
        { jobId, isFirst: true, signal: new AbortController().signal },
      ),
    );
    expect({ crawlRounds, packed: packed?.state }).toEqual({
      crawlRounds: rounds,
      packed: rounds > 1 ? 'completed' : undefined,
    });
  });

  it('leaves the rest to the stages if it is a retry, needs a browser, or would take long', async () => {
    const retried = await stages.job();
    const again = await new MockActivityEnvironment({ attempt: 2 }).run(() =>
      stages.activities.beginExport({ jobId: retried }),
    );
    expect(again).toMatchObject({ state: 'open', rest: null, packed: null });
    const browserJob = await stages.job({ discover: 'browser' });
    const crawled = { rest: { done: true }, packed: null };
    expect(await runActivity(() => stages.activities.beginExport({ jobId: browserJob }))).toMatchObject(crawled);
    expect(await getCrawl(stages.rig.db, browserJob)).toMatchObject({ phase: 'crawling' });
    const large = await stages.job();
    const manyBatches = createPlatformActivities({
      ...stages.rig,
      logger,
      limits: { batchFiles: 1, soloCrawlMs: 60_000 },
    });
    stages.server.setHandler(
      serveFiles({ '/': [1, 2, 3, 4, 5, 6, 7].map((n) => `<a href="/${n}">`).join(''), ...pages(7) }),
    );
    expect(await runActivity(() => manyBatches.beginExport({ jobId: large }))).toMatchObject(crawled);
    expect(await getCrawl(stages.rig.db, large)).toMatchObject({ phase: 'frozen' });
  });

  it.each([
    [1, true],
    [50, false],
  ])('completes a large site if %i of 100 pages changed since the last export: %s', async (changedCount, completes) => {
    const limits = { batchFiles: 1, soloCrawlMs: 60_000 };
    const site = {
      '/': Object.keys(pages(100))
        .map((path) => `<a href="${path}">`)
        .join(''),
      ...pages(100),
    };
    const changed = Object.fromEntries(Object.keys(pages(changedCount)).map((path) => [path, '<p>New']));
    stages.server.setHandler(serveFiles(site));
    const projectId = await stages.rig.addProject(stages.server.origin);
    await stages.rig.run(projectId, { limits });
    stages.server.setHandler(serveFiles({ ...site, ...changed }));
    const begun = await runActivity(async () =>
      createPlatformActivities({ ...stages.rig, logger, limits }).beginExport({
        jobId: await stages.rig.addJob(projectId),
      }),
    );
    expect(begun).toMatchObject({ rest: { done: true }, packed: completes ? { state: 'completed' } : null });
  });
});

function pages(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`/${index + 1}`, `<p>${index}`]));
}

/** The paths that `work` requested from the origin. */
async function requestsOf(work: () => Promise<unknown>): Promise<string[]> {
  const before = stages.server.requests.length;
  await runActivity(work);
  return stages.server.requests.slice(before);
}
