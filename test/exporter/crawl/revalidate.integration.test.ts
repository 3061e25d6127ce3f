import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { createPlatformActivities } from '../../../platform/activities/create-platform-activities.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { bundleContent, type ChangingSite, changingOrigin, newSite } from '../reuse/changing-site.ts';
import { type KeptExportsFixture, startKeptExportsFixture } from '../reuse/kept-exports-fixture.ts';

/** More pages than the number of changed responses that ends the revalidation. */
const MANY_PAGES = 600;

let rig: KeptExportsFixture;
let server: HttpSite;
let site: ChangingSite;
const origin = changingOrigin(
  () => site,
  () => 'etag',
);

beforeAll(async () => {
  server = await startHttpSite(origin.handle);
  rig = await startKeptExportsFixture(() => server.origin);
});

afterAll(async () => {
  await rig.stop();
  await server.close();
});

/** A project whose site was exported once. The list of requests is empty afterwards. */
async function exportedProject(pages: number): Promise<string> {
  site = newSite(pages);
  const projectId = await rig.addProject(server.origin);
  await rig.run(projectId);
  server.requests.splice(0);
  return projectId;
}

function repeatedRequests(): string[] {
  return server.requests.filter((path, index, all) => all.indexOf(path) !== index);
}

/** How many URLs of a job are queued and settled. */
async function frontier(jobId: string): Promise<{ queued: number; settled: number }> {
  const { rows } = await rig.db.execute<{ queued: number; settled: number }>(`
    select (count(*) filter (where state = 'queued'))::int as queued,
      (count(*) filter (where state = 'settled'))::int as settled
    from crawl_urls where job_id = '${jobId}'`);
  return rows[0] ?? { queued: 0, settled: 0 };
}

describe('the revalidation of the previous export', () => {
  it('requests each URL once and finds the new links of changed pages', async () => {
    const projectId = await exportedProject(40);
    site.pages.set(100, { text: 'New', links: [], pictures: [1], movedTo: null });
    site.pages.get(7)?.links.push(100);
    site.pages.delete(9);
    const incremental = await rig.run(projectId);
    expect(repeatedRequests()).toEqual([]);
    expect(server.requests).toContain('/p100');
    expect(bundleContent(incremental)).toEqual(bundleContent(await rig.full()));
  });

  it.each([
    ['most pages have changed', MANY_PAGES, 2, {}],
    ['there is no time for it', 60, 1, { revalidateMs: 0 }],
  ])('stops if %s, and still each URL is requested once', async (_name, pages, template, limits) => {
    const projectId = await exportedProject(pages);
    site.template = template;
    const incremental = await rig.run(projectId, { limits });
    expect(repeatedRequests()).toEqual([]);
    expect(bundleContent(incremental)).toEqual(bundleContent(await rig.full()));
  });

  it('is committed as a whole: after a crash the crawl requests everything again', async () => {
    const projectId = await exportedProject(40);
    const jobId = await rig.addJob(projectId);
    await rig.runStages(jobId, { until: 'open' });
    const opened = await frontier(jobId);
    server.setHandler((request, response) => {
      // This request gets no response.
      if (request.url !== '/p20') origin.handle(request, response);
    });
    const dying = new MockActivityEnvironment();
    const limits = { revalidateMs: 600_000 };
    const activities = createPlatformActivities({ ...rig, logger: pino({ level: 'silent' }), limits });
    const crawl = dying.run(() => activities.crawlSite({ jobId, maxMs: 60_000 })).catch((error: unknown) => error);
    await waitFor(async () => server.requests.includes('/p20') && server.requests.length >= 40, {
      describe: 'requested the pages',
    });
    expect(await frontier(jobId)).toEqual(opened);
    dying.cancel();
    await crawl;
    expect(await frontier(jobId)).toEqual(opened);

    server.setHandler(origin.handle);
    await rig.runStages(jobId);
    const { report, ...bundle } = await rig.read(jobId);
    expect(report.reuse?.unchangedAddresses).toBeGreaterThanOrEqual(40);
    expect(bundleContent({ report, ...bundle })).toEqual(bundleContent(await rig.full()));
  });
});
