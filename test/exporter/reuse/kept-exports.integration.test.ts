import { createJobCache } from '../../../exporter/job-cache.ts';
import { rememberPreviousFiles } from '../../../exporter/reuse/previous-responses.ts';
import { createCrawlStore } from '../../../platform/store/crawl-store.ts';
import { failExportJob, requestExportJobCancel } from '../../../platform/store/export-job-transitions.ts';
import { getExportJob } from '../../../platform/store/export-jobs.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { bundleContent, type ChangingSite, changingOrigin, newSite } from './changing-site.ts';
import { type KeptExportsFixture, startKeptExportsFixture } from './kept-exports-fixture.ts';

const HOME = 'https://docs.example.com/';
const PAGES = 9;
/** Home, pages, three pictures, the style and the not-found page. */
const FILES = PAGES + 6;

let rig: KeptExportsFixture;
let server: HttpSite;
let site: ChangingSite;
let isDown = false;
const origin = changingOrigin(
  () => site,
  () => 'both',
);

beforeAll(async () => {
  rig = await startKeptExportsFixture(() => server.origin);
  server = await startHttpSite((request, response) => {
    if (isDown) response.writeHead(404).end();
    else origin.handle(request, response);
  });
});

beforeEach(() => {
  site = newSite(PAGES);
  origin.reset();
});

afterAll(async () => {
  await server.close();
  await rig.stop();
});

function edit(page: number): void {
  const found = site.pages.get(page);
  if (found !== undefined) found.text = `Edited ${Math.random()}`;
}

describe('what a completed export keeps for the next one', () => {
  it('serves an export of some paths, which takes nothing from the export of the whole site after it', async () => {
    const projectId = await rig.addProject(server.origin);
    await rig.run(projectId);
    edit(3);
    const part = await rig.run(projectId, { paths: ['/p3', '/p4'] });
    expect(part.manifest.pageCount).toBe(2);
    expect(part.files.has('style.css')).toBe(true);
    expect(part.report.reuse?.unchangedAddresses).toBeGreaterThan(0);
    expect(bundleContent(part)).toEqual(bundleContent(await rig.full(['/p3', '/p4'])));
    const next = await rig.run(projectId);
    expect(bundleContent(next)).toEqual(bundleContent(await rig.full()));
    expect(next.report.reuse).toEqual({ unchangedAddresses: FILES - 1, files: FILES, reusedFiles: expect.anything() });
  });

  it('is forgotten once a newer export has completed, but for the objects that this one took over', async () => {
    const projectId = await rig.addProject(server.origin);
    const first = await rig.run(projectId);
    edit(3);
    const second = await rig.run(projectId);
    expect(await rig.crawlsOf(projectId)).toEqual([second.row.id]);
    expect((await rig.workKeys(first.row.id)).length).toBeGreaterThan(0);
    site.template += 1;
    site.pictures = new Map([0, 1, 2].map((each) => [each, `new picture ${each}`]));
    const third = await rig.run(projectId);
    const left = await rig.workKeys(first.row.id, second.row.id);
    // The page for what isn't there never changes.
    expect(left).toHaveLength(1);
    expect((await rig.workKeys(third.row.id)).filter((key) => !key.includes('/segments/'))).toEqual([]);
    expect(bundleContent(third)).toEqual(bundleContent(await rig.full()));
  });

  it('is swept where workers died before they could clear up, and outlives the sweep where it is the newest', async () => {
    const projectId = await rig.addProject(server.origin);
    const first = await rig.addJob(projectId);
    await rig.runStages(first, { until: 'pack' });
    site.template += 1;
    const jobId = await rig.addJob(projectId);
    await rig.runStages(jobId, { until: 'pack' });
    expect(await rig.crawlsOf(projectId)).toHaveLength(2);
    await rig.sweep();
    expect(await rig.crawlsOf(projectId)).toEqual([jobId]);
    const kept = await rig.workKeys(first, jobId);
    expect(kept.filter((key) => !key.includes('/segments/'))).toEqual([]);
    await rig.sweep();
    expect(await rig.workKeys(first, jobId)).toEqual(kept);
    const next = await rig.run(projectId);
    expect(next.report.reuse).toEqual({ unchangedAddresses: FILES, files: FILES, reusedFiles: FILES });
    expect(bundleContent(next)).toEqual(bundleContent(await rig.full()));
  });

  it('survives stages that are repeated from the start, and a cancelled export that clears up late', async () => {
    const projectId = await rig.addProject(server.origin);
    await rig.run(projectId);
    const late = await rig.addJob(projectId);
    await rig.runStages(late, { until: 'freeze' });
    await requestExportJobCancel(rig.db, late);
    await failExportJob(rig.db, late, 'cancelled');
    edit(2);
    const jobId = await rig.addJob(projectId);
    for (const until of ['crawl', 'rewrite', 'pack', 'clean up'] as const) await rig.runStages(jobId, { until });
    await rig.runStages(late).catch(() => undefined);
    expect(await rig.workKeys(late)).toEqual([]);
    expect(await rig.crawlsOf(projectId)).toEqual([jobId]);
    expect(bundleContent(await rig.read(jobId))).toEqual(bundleContent(await rig.full()));
    const next = await rig.run(projectId);
    expect(next.report.reuse).toEqual({ unchangedAddresses: FILES, files: FILES, reusedFiles: FILES });
  });

  it('stays what it is while exports fail', async () => {
    const projectId = await rig.addProject(server.origin);
    await rig.run(projectId);
    isDown = true;
    const failed = await rig.addJob(projectId);
    await rig.runStages(failed);
    isDown = false;
    expect((await getExportJob(rig.db, failed))?.status).toBe('failed');
    expect((await rig.run(projectId)).report.reuse?.reusedFiles).toBe(FILES);
  });

  it('is not missed if its archive was deleted', async () => {
    const projectId = await rig.addProject(server.origin);
    const first = await rig.run(projectId);
    await rig.objects.delete([first.row.archiveKey ?? '']);
    const second = await rig.run(projectId);
    expect(second.report.reuse).toEqual({ unchangedAddresses: FILES, files: FILES, reusedFiles: 0 });
    expect(bundleContent(second)).toEqual(bundleContent(first));
  });

  it.each([
    ['read some answers', 'crawl', 'update crawl_urls set links_offset = null, links_length = null where job_id = $'],
    ['made a batch', 'rewrite', 'update crawl_batches set pieces_json = null where number = 0 and job_id = $'],
    ['packed it', 'clean up', 'update crawls set archive_head_bytes = null where job_id = $'],
  ] as const)('is nothing to begin from where a release that kept nothing %s', async (_what, until, undo) => {
    const projectId = await rig.addProject(server.origin);
    const mixed = await rig.addJob(projectId);
    await rig.runStages(mixed, { until });
    await rig.db.execute(undo.replace('$', `'${mixed}'`));
    if (until !== 'clean up') await rig.runStages(mixed);
    edit(3);
    const next = await rig.run(projectId);
    expect(next.report.reuse).toEqual({ unchangedAddresses: 0, files: FILES, reusedFiles: 0 });
    expect((await rig.run(projectId)).report.reuse?.reusedFiles).toBe(FILES);
  });

  it('isn’t kept where a worker of another release or of other limits had a part in any stage', async () => {
    const jobId = await rig.addJob(await rig.addProject(server.origin));
    await rig.runStages(jobId, { until: 'open' });
    const change = (values: string) => rig.db.execute(`update crawls set ${values} where job_id = '${jobId}'`);
    const spoiled: string[] = [];
    await rig.runStages(jobId, {
      until: 'pack',
      around: async (stage, work) => {
        await change("keep = true, reuse_key = 'another'");
        await work();
        const { rows } = await rig.db.execute<{ keep: boolean }>(`select keep from crawls where job_id = '${jobId}'`);
        if (rows[0]?.keep === false) spoiled.push(stage);
      },
    });
    expect(spoiled).toEqual(['open', 'crawl', 'freeze', 'rewrite', 'pack']);
  });

  it('is copied from in a way that a worker which knows nothing of copies refuses to pack', async () => {
    const projectId = await rig.addProject(server.origin);
    const limits = { pieceBytes: 1 };
    await rig.run(projectId, { limits });
    edit(3);
    const jobId = await rig.addJob(projectId);
    await rig.runStages(jobId, { until: 'rewrite', limits });
    const { rows } = await rig.db.execute<{ key: string | null; isParts: boolean }>(
      `select object_key as key, parts_json is not null as "isParts" from crawl_batches where job_id = '${jobId}'`,
    );
    expect(rows).toContainEqual({ key: null, isParts: true });
    expect(rows.filter(({ key, isParts }) => (key === null) !== isParts)).toEqual([]);
    await rig.runStages(jobId, { limits });
    const next = await rig.read(jobId);
    expect(next.report.reuse).toEqual({ unchangedAddresses: FILES - 1, files: FILES, reusedFiles: FILES - 1 });
    expect(bundleContent(next)).toEqual(bundleContent(await rig.full()));
  });

  it('has no pieces to copy where their places don’t add up to its archive', async () => {
    const projectId = await rig.addProject(server.origin);
    const { row } = await rig.run(projectId);
    await rig.db.execute(`update crawls set archive_head_bytes = archive_head_bytes - 1 where job_id = '${row.id}'`);
    const next = await rig.run(projectId);
    expect(next.report.reuse).toEqual({ unchangedAddresses: FILES, files: FILES, reusedFiles: 0 });
  });

  it('is of no use to other settings or limits, and isn’t kept where the project says so', async () => {
    const projectId = await rig.addProject(server.origin);
    await rig.run(projectId);
    const other = await rig.run(projectId, { limits: { gzipLevel: 1 } });
    expect(other.report.reuse?.unchangedAddresses).toBe(0);
    expect(origin.unchanged).toEqual([]);

    const plain = await rig.addProject(server.origin, { incremental: false });
    const first = await rig.run(plain);
    expect(await rig.crawlsOf(plain)).toEqual([]);
    expect(await rig.workKeys(first.row.id)).toEqual([]);
    expect((await rig.run(plain)).report.reuse).toEqual({ unchangedAddresses: 0, files: FILES, reusedFiles: 0 });
    expect(origin.unchanged).toEqual([]);
  });

  it('is read once for all that crawls a job in a process, until the job has ended', async () => {
    const { row } = await rig.run(await rig.addProject(server.origin));
    const jobCache = createJobCache();
    const previousFilesFor = rememberPreviousFiles(createCrawlStore(rig.db), jobCache);
    const known = () => previousFilesFor({ jobId: 'se_next', base: { jobId: row.id, urlCount: FILES } }).of(HOME);
    expect(await known()).toMatchObject({ url: HOME, isPage: true });
    await rig.db.execute(`delete from crawl_urls where job_id = '${row.id}'`);
    expect(await known()).toMatchObject({ url: HOME, isPage: true });
    jobCache.forget('se_next');
    expect(await known()).toBeUndefined();
  });
});
