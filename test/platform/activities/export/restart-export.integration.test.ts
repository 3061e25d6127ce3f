import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import type { ExportLimits } from '../../../../exporter/limits.ts';
import {
  createPlatformActivities,
  type PlatformActivities,
} from '../../../../platform/activities/create-platform-activities.ts';
import { getCrawl } from '../../../../platform/store/crawls.ts';
import { bundleContent, type ChangingSite, changingOrigin, newSite } from '../../../exporter/reuse/changing-site.ts';
import { type KeptExportsFixture, startKeptExportsFixture } from '../../../exporter/reuse/kept-exports-fixture.ts';
import type { ExportedBundle } from '../../../helpers/export-rig.ts';
import { type HttpSite, startHttpSite } from '../../../helpers/http-site.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';

const PAGES = 12;
const NOTICE = { url: null, text: expect.stringMatching(/fetched again/) };
const STAGES = ['openExport', 'crawlSite', 'freezeExport', 'rewriteFiles', 'packExport'] as const;

let fixture: KeptExportsFixture;
let server: HttpSite;
let site: ChangingSite;
const origin = changingOrigin(
  () => site,
  () => 'etag',
);

beforeAll(async () => {
  server = await startHttpSite(origin.handle);
  fixture = await startKeptExportsFixture(() => server.origin);
});

beforeEach(() => {
  site = newSite(PAGES);
});

afterAll(async () => {
  await fixture.stop();
  await server.close();
});

function inActivity<Result>(work: () => Promise<Result>): Promise<Result> {
  return new MockActivityEnvironment().run(work);
}

/** A new worker process, with its own in-memory state. */
function newProcess(limits: Partial<ExportLimits> = {}): PlatformActivities {
  return createPlatformActivities({ ...fixture, logger: pino({ level: 'silent' }), limits });
}

async function runStages(process: PlatformActivities, jobId: string, stages: readonly (typeof STAGES)[number][]) {
  for (const stage of stages) {
    const run: (input: { jobId: string; maxMs: number }) => Promise<unknown> = process[stage];
    await inActivity(() => run({ jobId, maxMs: 60_000 }));
  }
}

/** Deletes the segments of an export, as a clean-up would that ignores kept exports. */
async function loseSegments({ row }: ExportedBundle): Promise<void> {
  await fixture.objects.delete(await fixture.workKeys(row.id));
}

async function loseArchive({ row }: ExportedBundle): Promise<void> {
  await fixture.objects.delete([row.archiveKey ?? '']);
}

describe('an export whose previous export lost its objects', () => {
  it('fetches a page again if it needs the links of its lost copy', async () => {
    const projectId = await fixture.addProject(server.origin);
    await loseSegments(await fixture.run(projectId));
    const next = await fixture.run(projectId);
    expect(next.report.notices).toEqual([]);
    expect(bundleContent(next)).toEqual(bundleContent(await fixture.full()));
  });

  it.each([
    ['its files are rewritten', 'rewriteFiles', loseSegments, {}],
    ['its archive is packed', 'packExport', loseArchive, { pieceBytes: 1 }],
  ] as const)(
    'restarts in the same process, and is complete, if the loss shows when %s',
    async (_when, stage, lose, limits) => {
      const projectId = await fixture.addProject(server.origin);
      const first = await fixture.run(projectId, { limits });
      site.pages.set(5, { text: 'New', links: [1], pictures: [], movedTo: null });
      const jobId = await fixture.addJob(projectId);
      const process = newProcess(limits);
      await runStages(process, jobId, STAGES.slice(0, STAGES.indexOf(stage)));
      expect(await getCrawl(fixture.db, jobId)).toMatchObject({ phase: 'frozen', baseJobId: first.row.id });
      await lose(first);
      await expect(runStages(process, jobId, [stage])).rejects.toMatchObject({
        type: 'ExportInputGone',
        nonRetryable: true,
      });

      // Another page has moved meanwhile, so the paths that this process has cached are outdated.
      site.pages.set(7, { text: '', links: [], pictures: [], movedTo: 2 });
      const restart = () => inActivity(() => process.beginAnew({ jobId }));
      expect(await restart()).toEqual({ isAnew: true });
      // A retry after its result was lost.
      expect(await restart()).toEqual({ isAnew: true });
      await runStages(process, jobId, STAGES);
      const restarted = await fixture.read(jobId);
      expect(bundleContent(restarted)).toEqual(bundleContent(await fixture.full()));
      expect(restarted.report).toMatchObject({ notices: [NOTICE], reuse: { unchangedAddresses: 0, reusedFiles: 0 } });

      await inActivity(() => process.cleanUpExport({ jobId, archiveKey: restarted.row.archiveKey }));
      expect(await fixture.crawlsOf(projectId)).toEqual([jobId]);
      expect((await fixture.run(projectId, { limits })).report.reuse?.reusedFiles).toBe(
        restarted.manifest.files.length,
      );
    },
  );

  it('ignores a worker that continues the abandoned crawl after it was presumed dead', async () => {
    const projectId = await fixture.addProject(server.origin);
    await fixture.run(projectId);
    const jobId = await fixture.addJob(projectId);
    await runStages(newProcess(), jobId, ['openExport']);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    server.requests.splice(0);
    server.setHandler(async (request, response) => {
      if (request.url === '/p3') await held;
      origin.handle(request, response);
    });
    const late = runStages(newProcess(), jobId, ['crawlSite']).catch((error: unknown) => error);
    await waitFor(async () => server.requests.includes('/p3'), { describe: 'requested /p3' });
    expect(await inActivity(() => newProcess().beginAnew({ jobId }))).toEqual({ isAnew: true });
    release();
    expect(await late).toMatchObject({ type: 'CrawlGone', message: 'the crawl was restarted' });
    server.setHandler(origin.handle);
    await runStages(newProcess(), jobId, STAGES);
    const restarted = await fixture.read(jobId);
    expect(bundleContent(restarted)).toEqual(bundleContent(await fixture.full()));
    expect(restarted.report.reuse).toMatchObject({ unchangedAddresses: 0, reusedFiles: 0 });
  });

  it('fails without a restart if it reused nothing', async () => {
    const jobId = await fixture.addJob(await fixture.addProject(server.origin));
    await runStages(newProcess(), jobId, STAGES.slice(0, STAGES.indexOf('rewriteFiles')));
    await fixture.objects.delete(await fixture.workKeys(jobId));
    const process = newProcess();
    await expect(runStages(process, jobId, ['rewriteFiles'])).rejects.toMatchObject({ type: 'ExportInputGone' });
    expect(await inActivity(() => process.beginAnew({ jobId }))).toEqual({ isAnew: false });
    expect(await getCrawl(fixture.db, jobId)).toMatchObject({ phase: 'frozen' });
    expect(await inActivity(() => process.beginAnew({ jobId: 'se_gone' }))).toEqual({ isAnew: false });
  });
});
