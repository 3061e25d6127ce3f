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

beforeEach(() => {
  site = newSite(PAGES);
});

afterAll(async () => {
  await rig.stop();
  await server.close();
});

function inActivity<Result>(work: () => Promise<Result>): Promise<Result> {
  return new MockActivityEnvironment().run(work);
}

/** A worker's process of its own: with the memory that its activities share. */
function newProcess(limits: Partial<ExportLimits> = {}): PlatformActivities {
  return createPlatformActivities({ ...rig, logger: pino({ level: 'silent' }), limits });
}

async function runStages(process: PlatformActivities, jobId: string, stages: readonly (typeof STAGES)[number][]) {
  for (const stage of stages) {
    const run: (input: { jobId: string; maxMs: number }) => Promise<unknown> = process[stage];
    await inActivity(() => run({ jobId, maxMs: 60_000 }));
  }
}

/** Deletes the segments that an export stored, as a clean-up that knows nothing of kept ones would. */
async function loseSegments({ row }: ExportedBundle): Promise<void> {
  await rig.objects.delete(await rig.workKeys(row.id));
}

async function loseArchive({ row }: ExportedBundle): Promise<void> {
  await rig.objects.delete([row.archiveKey ?? '']);
}

describe('an export that takes over what is gone by the time that it needs it', () => {
  it('asks for it again if its links would lead the crawl on', async () => {
    const projectId = await rig.addProject(server.origin);
    await loseSegments(await rig.run(projectId));
    const next = await rig.run(projectId);
    expect(next.report.notices).toEqual([]);
    expect(bundleContent(next)).toEqual(bundleContent(await rig.full()));
  });

  it.each([
    ['its files are rewritten', 'rewriteFiles', loseSegments, {}],
    ['its archive is packed', 'packExport', loseArchive, { pieceBytes: 1 }],
  ] as const)('begins again in the same process, and misses nothing, if %s', async (_when, stage, lose, limits) => {
    const projectId = await rig.addProject(server.origin);
    const first = await rig.run(projectId, { limits });
    site.pages.set(5, { text: 'New', links: [1], pictures: [], movedTo: null });
    const jobId = await rig.addJob(projectId);
    const process = newProcess(limits);
    await runStages(process, jobId, STAGES.slice(0, STAGES.indexOf(stage)));
    expect(await getCrawl(rig.db, jobId)).toMatchObject({ phase: 'frozen', baseJobId: first.row.id });
    await lose(first);
    await expect(runStages(process, jobId, [stage])).rejects.toMatchObject({
      type: 'ExportInputGone',
      nonRetryable: true,
    });

    // Another page has moved meanwhile, so nothing that this process remembers of its paths holds any more.
    site.pages.set(7, { text: '', links: [], pictures: [], movedTo: 2 });
    const begun = () => inActivity(() => process.beginAnew({ jobId }));
    expect(await begun()).toEqual({ isAnew: true });
    // Its answer may have been lost.
    expect(await begun()).toEqual({ isAnew: true });
    await runStages(process, jobId, STAGES);
    const anew = await rig.read(jobId);
    expect(bundleContent(anew)).toEqual(bundleContent(await rig.full()));
    expect(anew.report).toMatchObject({ notices: [NOTICE], reuse: { unchangedAddresses: 0, reusedFiles: 0 } });

    await inActivity(() => process.cleanUpExport({ jobId, archiveKey: anew.row.archiveKey }));
    expect(await rig.crawlsOf(projectId)).toEqual([jobId]);
    expect((await rig.run(projectId, { limits })).report.reuse?.reusedFiles).toBe(anew.manifest.files.length);
  });

  it('takes nothing from a worker that goes on with the last export, having been taken for dead', async () => {
    const projectId = await rig.addProject(server.origin);
    await rig.run(projectId);
    const jobId = await rig.addJob(projectId);
    await runStages(newProcess(), jobId, ['openExport']);
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    server.requests.splice(0);
    server.setHandler(async (request, response) => {
      if (request.url === '/p3') await held;
      origin.handle(request, response);
    });
    const late = runStages(newProcess(), jobId, ['crawlSite']).catch((error: unknown) => error);
    await waitFor(async () => server.requests.includes('/p3'), { describe: 'asked for /p3' });
    expect(await inActivity(() => newProcess().beginAnew({ jobId }))).toEqual({ isAnew: true });
    letGo();
    expect(await late).toMatchObject({ type: 'CrawlGone', message: 'the crawl was restarted' });
    server.setHandler(origin.handle);
    await runStages(newProcess(), jobId, STAGES);
    const anew = await rig.read(jobId);
    expect(bundleContent(anew)).toEqual(bundleContent(await rig.full()));
    expect(anew.report.reuse).toMatchObject({ unchangedAddresses: 0, reusedFiles: 0 });
  });

  it('fails as it is if it reused nothing', async () => {
    const jobId = await rig.addJob(await rig.addProject(server.origin));
    await runStages(newProcess(), jobId, STAGES.slice(0, STAGES.indexOf('rewriteFiles')));
    await rig.objects.delete(await rig.workKeys(jobId));
    const process = newProcess();
    await expect(runStages(process, jobId, ['rewriteFiles'])).rejects.toMatchObject({ type: 'ExportInputGone' });
    expect(await inActivity(() => process.beginAnew({ jobId }))).toEqual({ isAnew: false });
    expect(await getCrawl(rig.db, jobId)).toMatchObject({ phase: 'frozen' });
    expect(await inActivity(() => process.beginAnew({ jobId: 'se_gone' }))).toEqual({ isAnew: false });
  });
});
