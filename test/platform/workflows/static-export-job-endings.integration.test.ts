import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { exportReport } from '../../../contract/admin-api.ts';
import { WORKFLOW_TYPES } from '../../../contract/names.ts';
import type { PlatformActivities } from '../../../platform/activities/create-platform-activities.ts';
import { getCrawl } from '../../../platform/store/crawls.ts';
import { requestExportJobCancel } from '../../../platform/store/export-job-transitions.ts';
import type { ExportRig } from '../../helpers/export-rig.ts';
import { type HttpSite, type SiteHandler, serveFiles } from '../../helpers/http-site.ts';
import { createGate } from '../../helpers/system/gate.ts';
import { workflowBundles } from '../../helpers/workflow-bundles.ts';
import { type SiteFixture, startSiteFixture } from './site-fixture.ts';

type ExportStages = Pick<
  PlatformActivities,
  | 'beginExport'
  | 'crawlSite'
  | 'freezeExport'
  | 'rewriteFiles'
  | 'packExport'
  | 'beginAnew'
  | 'failExport'
  | 'cleanUpExport'
>;

let fixture: SiteFixture;
let rig: ExportRig;
let site: HttpSite;

beforeAll(async () => {
  fixture = await startSiteFixture();
  ({ rig, site } = fixture);
});

beforeEach(() => fixture.reset());

afterAll(() => fixture.stop());

describe('the end of a staticExportJob', () => {
  const robots = (body: string) => serveFiles({ '/': '<p>hi', '/robots.txt': body });
  const away = { body: '', status: 302, headers: { location: 'https://www.elsewhere.example/' } };

  it.each<[what: string, handler: SiteHandler, error: RegExp, settings?: Record<string, unknown>]>([
    ['the start page fails', failingAt('/', 501), /The start page .* HTTP 501/],
    ['the start page is missing', serveFiles({}), /The start page .* HTTP 404/],
    ['the start page leads to another site', serveFiles({ '/': away }), /redirects to https:\/\/www\.elsewhere/],
    ['robots.txt forbids the start page', robots('User-agent: *\nDisallow: /'), /robots\.txt disallows/],
    [
      'robots.txt fails',
      failingAt('/robots.txt', 501),
      /^https:\/\/docs\.example\.com\/robots\.txt \(at its origin\) .*HTTP 501/,
    ],
    ['no browser can render the pages', robots(''), /render: browser.*install Chromium/, { render: 'browser' }],
  ])('fails with a clear message when %s, and leaves nothing behind', async (_what, handler, error, settings = {}) => {
    site.setHandler(handler);
    const jobId = await rig.start({ origin: site.origin, settings });
    expect(await rig.end(jobId)).toMatchObject({ status: 'failed', error: expect.stringMatching(error) });
    expect(await fixture.leftovers(jobId)).toEqual([]);
  });

  it('stores a report of the crawl before the failure', async () => {
    site.setHandler(serveFiles({ '/robots.txt': 'User-agent: *\nDisallow: /private' }));
    const row = await rig.end(await rig.start({ origin: site.origin }));
    const report = exportReport.parse(JSON.parse(String(await rig.objects.read(row.reportKey ?? ''))));
    const start = { url: 'https://docs.example.com/', status: 404, reason: 'HTTP 404', referrers: [] };
    expect(report).toMatchObject({ jobId: row.id, brokenLinks: [start], counts: { brokenLinks: 1 } });
  });

  it('exports without visiting samples if the worker has no browser, and reports that', async () => {
    const { report } = await rig.run({ origin: site.origin, settings: { discover: 'browser' } });
    expect(report.notices).toEqual([{ url: null, text: expect.stringMatching(/no sample pages were visited/) }]);
  });

  /** An export whose row was canceled while its crawl waits for the second page. */
  async function canceledWhileCrawling(): Promise<string> {
    const secondRequested = createGate();
    site.setHandler((request, response) => {
      response.setHeader('content-type', 'text/html');
      if (request.url === '/on') secondRequested.open();
      else response.end('<a href="/on">on</a>');
    });
    const jobId = await rig.start({ origin: site.origin });
    await secondRequested.pass();
    await requestExportJobCancel(rig.db, jobId);
    return jobId;
  }

  it('stops when it is canceled, fails as canceled, and leaves nothing behind', async () => {
    const jobId = await canceledWhileCrawling();
    await rig.temporal.client.workflow.getHandle(jobId).cancel();
    const row = await rig.end(jobId);
    expect(row).toMatchObject({ status: 'failed', error: 'cancelled' });
    expect(await fixture.leftovers(jobId)).toEqual([]);
    expect(await getCrawl(rig.db, jobId)).toBeUndefined();
    // The crawl may see the cancel in the row first. The workflow then fails as canceled.
    const { status } = await rig.temporal.client.workflow.getHandle(jobId).describe();
    expect(['CANCELLED', 'FAILED']).toContain(status.name);
  });

  it('reads a cancel from its row while it crawls, even if the workflow is never canceled', async () => {
    const jobId = await canceledWhileCrawling();
    const row = await rig.end(jobId);
    expect(row).toMatchObject({ status: 'failed', error: 'cancelled', reportKey: `reports/${jobId}.json` });
    expect(await rig.keys('reports/')).toContain(row.reportKey);
    // A crawl that continued would have timed out and repeated this request.
    expect(site.requests.filter((path) => path === '/on')).toHaveLength(1);
    expect(await fixture.leftovers(jobId)).toEqual([]);
  });

  it('crawls again if new URLs were found while it froze', async () => {
    const calls: string[] = [];
    const ended = await play('late-finds', calls, {
      freezeExport: async () => {
        calls.push('freeze');
        if (calls.length < 3) throw ApplicationFailure.nonRetryable('there are more', 'CrawlUnfinished');
        return FROZEN;
      },
    });
    expect(ended).toMatchObject({ status: 'completed' });
    expect(calls).toEqual(['crawl', 'freeze', 'crawl', 'freeze']);
  });

  it('notices within seconds if the worker that records its end is killed', async () => {
    const timeoutsMs: (number | undefined)[] = [];
    const recordTimeout = async (): Promise<void> => {
      timeoutsMs.push(Context.current().info.heartbeatTimeoutMs);
    };
    await play('ends-watched', [], {
      packExport: async () => {
        throw ApplicationFailure.nonRetryable('the disk is full', 'ExportImpossible');
      },
      failExport: recordTimeout,
      cleanUpExport: recordTimeout,
    });
    expect(timeoutsMs).toEqual([5_000, 5_000]);
  });

  const RESTARTED = ['crawl', 'rewrite', 'anew', 'crawl', 'rewrite'];

  it.each([
    ['restarts once', { goneTimes: 1, isAnew: true }, 'completed', RESTARTED],
    ['fails the second time', { goneTimes: 2, isAnew: true }, 'failed', [...RESTARTED, 'failed']],
    [
      'fails if it did not reuse the lost object',
      { goneTimes: 1, isAnew: false },
      'failed',
      ['crawl', 'rewrite', 'anew', 'failed'],
    ],
  ])('%s if an object is missing from the store', async (name, { goneTimes, isAnew }, status, expected) => {
    const calls: string[] = [];
    const ended = await play(name.replaceAll(/\W/g, '-'), calls, {
      rewriteFiles: async () => {
        calls.push('rewrite');
        if (calls.filter((call) => call === 'rewrite').length <= goneTimes)
          throw ApplicationFailure.nonRetryable('it is gone', 'ExportInputGone');
        return { done: true, settled: 1, total: 1 };
      },
      beginAnew: async () => {
        calls.push('anew');
        return { isAnew };
      },
    });
    const failed = { cause: { message: expect.stringMatching(/starting it again may help/) } };
    expect(ended).toMatchObject(status === 'completed' ? { status } : failed);
    expect(calls).toEqual(expected);
  });
});

function failingAt(path: string, status: number): SiteHandler {
  return (request, response) => response.writeHead(request.url === path ? status : 200).end();
}

const FROZEN = { batchCount: 1, pageCount: 1, urlCount: 1 };

/** Runs the workflow with stubbed activities, and returns its result or its failure. */
async function play(taskQueue: string, calls: string[], own: Partial<ExportStages>): Promise<unknown> {
  const activities: ExportStages = {
    beginExport: async () => ({
      ...{ state: 'open', rest: null, packed: null },
      ...{ domain: 'docs.example.com', version: '1', pageHints: 0, visitsSamples: false, searchAttributes: false },
      plan: { soloCrawlMs: 2_000, activityMs: 50_000, parallelActivities: 1 },
    }),
    crawlSite: async () => {
      calls.push('crawl');
      return { done: true, queuedCount: 0 };
    },
    freezeExport: async () => FROZEN,
    rewriteFiles: async () => ({ done: true, settled: 1, total: 1 }),
    packExport: async () => ({
      ...{ state: 'completed', archiveKey: 'a', sizeBytes: 1, contentSha256: 'c' },
      ...{ pageCount: 1, fileCount: 1, brokenLinks: 0, reusedFiles: 0 },
    }),
    beginAnew: async () => ({ isAnew: false }),
    failExport: async () => {
      calls.push('failed');
    },
    cleanUpExport: async () => undefined,
    ...own,
  };
  const { nativeConnection: connection, namespace, client } = rig.temporal;
  const worker = await Worker.create({
    ...{ connection, namespace, taskQueue, activities },
    workflowBundle: workflowBundles.platform,
  });
  const job = { workflowId: taskQueue, taskQueue, args: [{ jobId: 'se_late' }] };
  const playing = client.workflow.execute(WORKFLOW_TYPES.staticExportJob, job).catch((error: unknown) => error);
  return worker.runUntil(playing);
}
