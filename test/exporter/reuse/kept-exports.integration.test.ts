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
/** The start page, the pages, three pictures, the stylesheet and the not-found page. */
const FILES = PAGES + 6;
/** With .nojekyll and the sitemap, which the export makes. */
const ALL_FILES = FILES + 2;

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

describe('the kept export', () => {
  it('is reused by an export of some paths, and by an export of the whole site after that', async () => {
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
    expect(next.report.reuse).toEqual({
      unchangedAddresses: FILES - 1,
      files: ALL_FILES,
      reusedFiles: expect.anything(),
    });
  });

  it('is deleted once a newer export has completed, except for the objects that the newer one reuses', async () => {
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
    // The not-found page never changes.
    expect(left).toHaveLength(1);
    expect((await rig.workKeys(third.row.id)).filter((key) => !key.includes('/segments/'))).toEqual([]);
    expect(bundleContent(third)).toEqual(bundleContent(await rig.full()));
  });

  it('is swept if workers crashed before they could clean up, unless it is the newest', async () => {
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
    expect(next.report.reuse).toEqual({ unchangedAddresses: FILES, files: ALL_FILES, reusedFiles: ALL_FILES });
    expect(bundleContent(next)).toEqual(bundleContent(await rig.full()));
  });

  it('survives repeated stages, and a canceled export that cleans up late', async () => {
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
    expect(next.report.reuse).toEqual({ unchangedAddresses: FILES, files: ALL_FILES, reusedFiles: ALL_FILES });
  });

  it('survives failed exports', async () => {
    const projectId = await rig.addProject(server.origin);
    await rig.run(projectId);
    isDown = true;
    const failed = await rig.addJob(projectId);
    await rig.runStages(failed);
    isDown = false;
    expect((await getExportJob(rig.db, failed))?.status).toBe('failed');
    expect((await rig.run(projectId)).report.reuse?.reusedFiles).toBe(ALL_FILES);
  });

  it('can be reused without its pieces if its archive was deleted', async () => {
    const projectId = await rig.addProject(server.origin);
    const first = await rig.run(projectId);
    await rig.objects.delete([first.row.archiveKey ?? '']);
    const second = await rig.run(projectId);
    expect(second.report.reuse).toEqual({ unchangedAddresses: FILES, files: ALL_FILES, reusedFiles: 0 });
    expect(bundleContent(second)).toEqual(bundleContent(first));
  });

  it('is not kept if a worker of another release or with other limits ran any stage', async () => {
    const jobId = await rig.addJob(await rig.addProject(server.origin));
    await rig.runStages(jobId, { until: 'open' });
    const change = (values: string) => rig.db.execute(`update crawls set ${values} where job_id = '${jobId}'`);
    const rejected: string[] = [];
    await rig.runStages(jobId, {
      until: 'pack',
      around: async (stage, work) => {
        await change("keep = true, reuse_key = 'another'");
        await work();
        const { rows } = await rig.db.execute<{ keep: boolean }>(`select keep from crawls where job_id = '${jobId}'`);
        if (rows[0]?.keep === false) rejected.push(stage);
      },
    });
    expect(rejected).toEqual(['open', 'crawl', 'freeze', 'rewrite', 'pack']);
  });

  it('has batches that are stored as an object or in parts, never both', async () => {
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
    expect(next.report.reuse).toEqual({ unchangedAddresses: FILES - 1, files: ALL_FILES, reusedFiles: ALL_FILES - 1 });
    expect(bundleContent(next)).toEqual(bundleContent(await rig.full()));
  });

  it('has no pieces to copy if their offsets don’t add up to its archive', async () => {
    const projectId = await rig.addProject(server.origin);
    const { row } = await rig.run(projectId);
    await rig.db.execute(`update crawls set archive_head_bytes = archive_head_bytes - 1 where job_id = '${row.id}'`);
    const next = await rig.run(projectId);
    expect(next.report.reuse).toEqual({ unchangedAddresses: FILES, files: ALL_FILES, reusedFiles: 0 });
  });

  it('is not reused with other settings or limits, and is not kept if the project disables it', async () => {
    const projectId = await rig.addProject(server.origin);
    await rig.run(projectId);
    const other = await rig.run(projectId, { limits: { gzipLevel: 1 } });
    expect(other.report.reuse?.unchangedAddresses).toBe(0);
    expect(origin.unchanged).toEqual([]);

    const plain = await rig.addProject(server.origin, { incremental: false });
    const first = await rig.run(plain);
    expect(await rig.crawlsOf(plain)).toEqual([]);
    expect(await rig.workKeys(first.row.id)).toEqual([]);
    expect((await rig.run(plain)).report.reuse).toEqual({ unchangedAddresses: 0, files: ALL_FILES, reusedFiles: 0 });
    expect(origin.unchanged).toEqual([]);
  });

  it('is read once per job and process, until the job has ended', async () => {
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
