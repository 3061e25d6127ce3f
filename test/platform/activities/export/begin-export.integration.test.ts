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
  it('requests the start page while the sitemap is on its way, and enqueues what both name', async () => {
    const files = {
      '/': '<a href="/linked">',
      '/sitemap.xml': `<urlset><url><loc>${HOME}/listed</loc></url></urlset>`,
    };
    const startAsked = createGate();
    stages.server.setHandler(async (request, response) => {
      if (request.url === '/') startAsked.open();
      if (request.url === '/sitemap.xml') await startAsked.pass();
      return serveFiles(files)(request, response);
    });
    const jobId = await stages.job();
    const asked = await requestsOf(() => stages.activities.openExport({ jobId }));
    expect(asked.sort()).toEqual(['/', '/robots.txt', '/sitemap.xml']);
    const states = await stages.statesOf(jobId);
    const about = ['/', '/sitemap.xml', '/linked', '/listed', '/404.html'].map((path) => states.get(HOME + path));
    expect(about).toEqual(['settled', 'settled', 'queued', 'queued', 'queued']);
    // Opened anew, it goes by the rules that it began with.
    expect(await requestsOf(() => stages.activities.openExport({ jobId }))).toEqual(['/sitemap.xml']);
  });

  it('is all of a small site, and does nothing twice when its answer is lost', async () => {
    const jobId = await stages.job();
    const begun = await runActivity(() => stages.activities.beginExport({ jobId }));
    expect(begun).toMatchObject({ state: 'open', rest: { done: true }, packed: { state: 'completed', pageCount: 1 } });
    const asked = stages.server.requests.length;
    const again = await new MockActivityEnvironment({ attempt: 2 }).run(() => stages.activities.beginExport({ jobId }));
    expect(again).toEqual({ ...begun, rest: null, packed: null });
    expect(stages.server.requests).toHaveLength(asked);
    expect(await runActivity(() => stages.activities.packExport({ jobId }))).toMatchObject({
      state: 'completed',
      pageCount: 1,
    });
  });

  it.each([
    { left: 3, rounds: 2 },
    { left: 30, rounds: 1 },
  ])('crawls for $rounds rounds if $left addresses are left of a dozen', async ({ left, rounds }) => {
    const count = 10;
    const links = Array.from({ length: count }, (_, index) => `<a href="/${index + 1}">`).join('');
    stages.server.setHandler(serveFiles({ '/': links, ...pages(count) }));
    const patient = createPlatformActivities({ ...stages.rig, logger, limits: { soloCrawlMs: 60_000 } });
    const jobId = await stages.job();
    let begun = 0;
    const crawlSite: PlatformActivities['crawlSite'] = async (input) => {
      const rest = await patient.crawlSite(input);
      begun += 1;
      if (begun > 1) return rest;
      // As if the time had been up before them.
      await stages.find(
        jobId,
        Array.from({ length: left }, (_, index) => ({ url: `${HOME}/left/${index}` })),
      );
      return { done: false, queuedCount: left };
    };
    const { packed } = await runActivity(() =>
      beginExport(
        { store: createCrawlStore(stages.rig.db), limits: DEFAULT_LIMITS },
        { ...patient, crawlSite },
        { jobId, isFirst: true, signal: new AbortController().signal },
      ),
    );
    expect({ begun, packed: packed?.state }).toEqual({ begun: rounds, packed: rounds > 1 ? 'completed' : undefined });
  });

  it('leaves the rest to the stages if it is retried, if a browser is to visit pages, or if it would take long', async () => {
    const tried = await stages.job();
    const again = await new MockActivityEnvironment({ attempt: 2 }).run(() =>
      stages.activities.beginExport({ jobId: tried }),
    );
    expect(again).toMatchObject({ state: 'open', rest: null, packed: null });
    const visited = await stages.job({ discover: 'browser' });
    const crawled = { rest: { done: true }, packed: null };
    expect(await runActivity(() => stages.activities.beginExport({ jobId: visited }))).toMatchObject(crawled);
    expect(await getCrawl(stages.rig.db, visited)).toMatchObject({ phase: 'crawling' });
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
  ])('is all of a large site if %i of 100 pages are new since the last export: %s', async (changedCount, isAll) => {
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
    expect(begun).toMatchObject({ rest: { done: true }, packed: isAll ? { state: 'completed' } : null });
  });
});

function pages(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`/${index + 1}`, `<p>${index}`]));
}

/** What the origin was asked for meanwhile. */
async function requestsOf(work: () => Promise<unknown>): Promise<string[]> {
  const before = stages.server.requests.length;
  await runActivity(work);
  return stages.server.requests.slice(before);
}
