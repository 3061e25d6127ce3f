import { setTimeout as sleep } from 'node:timers/promises';
import { failExportJob, requestExportJobCancel } from '../../../../../platform/store/export-job-transitions.ts';
import { getExportJob } from '../../../../../platform/store/export-jobs.ts';
import { sweepExports } from '../../../../../platform/sweep-exports.ts';
import { type DirectRig, startDirectRig } from '../../../../helpers/direct-export.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../../../../helpers/http-site.ts';
import { bundleContent, type ChangingSite, changingOrigin, newSite } from './changing-site.ts';

const PAGES = 9;
/** Home, pages, three pictures, the style and the not-found page. */
const FILES = PAGES + 6;

let rig: DirectRig;
let server: HttpSite;
let site: ChangingSite;
let isDown = false;
const origin = changingOrigin(
  () => site,
  () => 'both',
);

beforeAll(async () => {
  rig = await startDirectRig();
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

const full = async (paths?: string[]) => rig.run(await rig.addProject(server.origin), paths && { paths });

/** The objects below `exports/` that belong to any of these jobs. */
async function workKeys(...jobIds: string[]): Promise<string[]> {
  return (await Promise.all(jobIds.map((jobId) => rig.keys(`exports/${jobId}/`)))).flat();
}

async function crawlsOf(projectId: string): Promise<string[]> {
  const { rows } = await rig.db.execute<{ id: string }>(
    `select c.job_id as id from crawls c join export_jobs j on j.id = c.job_id where j.project_id = '${projectId}'`,
  );
  return rows.map(({ id }) => id);
}

async function sweep(): Promise<void> {
  const endedBefore = new Date(Date.now() + 60_000);
  await sweepExports({ ...rig, endedBefore, signal: new AbortController().signal });
}

describe('what a completed export keeps for the next one', () => {
  it('leaves out pages that were unpublished, and has what is new', async () => {
    const projectId = await rig.addProject(server.origin);
    await rig.run(projectId);
    for (const page of site.pages.values()) page.links = page.links.filter((each) => each !== 5);
    site.pages.get(1)?.links.push(50);
    site.pages.set(50, { text: 'New', links: [0], pictures: [], movedTo: null });
    const next = await rig.run(projectId);
    expect(next.files.has('p5.html')).toBe(false);
    expect(next.files.has('p50.html')).toBe(true);
    expect(bundleContent(next)).toEqual(bundleContent(await full()));
  });

  it('serves an export of some paths, which takes nothing from the export of the whole site after it', async () => {
    const projectId = await rig.addProject(server.origin);
    await rig.run(projectId);
    edit(3);
    const part = await rig.run(projectId, { paths: ['/p3', '/p4'] });
    expect(part.manifest.pageCount).toBe(2);
    expect(part.files.has('style.css')).toBe(true);
    expect(part.report.reuse?.unchangedAddresses).toBeGreaterThan(0);
    expect(bundleContent(part)).toEqual(bundleContent(await full(['/p3', '/p4'])));
    const next = await rig.run(projectId);
    expect(bundleContent(next)).toEqual(bundleContent(await full()));
    expect(next.report.reuse).toEqual({ unchangedAddresses: FILES - 1, files: FILES, reusedFiles: expect.anything() });
  });

  it('is forgotten once a newer export has completed, but for the objects that this one took over', async () => {
    const projectId = await rig.addProject(server.origin);
    const first = await rig.run(projectId);
    edit(3);
    const second = await rig.run(projectId);
    expect(await crawlsOf(projectId)).toEqual([second.row.id]);
    expect((await workKeys(first.row.id)).length).toBeGreaterThan(0);
    site.template += 1;
    site.pictures = new Map([0, 1, 2].map((each) => [each, `new picture ${each}`]));
    const third = await rig.run(projectId);
    const left = await workKeys(first.row.id, second.row.id);
    // The page for what isn't there never changes.
    expect(left).toHaveLength(1);
    expect((await workKeys(third.row.id)).filter((key) => !key.includes('/segments/'))).toEqual([]);
    expect(bundleContent(third)).toEqual(bundleContent(await full()));
  });

  it('is swept where workers died before they could clear up, and outlives the sweep where it is the newest', async () => {
    const projectId = await rig.addProject(server.origin);
    const first = await rig.addJob(projectId);
    await rig.runStages(first, { until: 'pack' });
    site.template += 1;
    const jobId = await rig.addJob(projectId);
    await rig.runStages(jobId, { until: 'pack' });
    expect(await crawlsOf(projectId)).toHaveLength(2);
    await sweep();
    expect(await crawlsOf(projectId)).toEqual([jobId]);
    const kept = await workKeys(first, jobId);
    expect(kept.filter((key) => !key.includes('/segments/'))).toEqual([]);
    await sweep();
    expect(await workKeys(first, jobId)).toEqual(kept);
    const next = await rig.run(projectId);
    expect(next.report.reuse).toEqual({ unchangedAddresses: FILES, files: FILES, reusedFiles: FILES });
    expect(bundleContent(next)).toEqual(bundleContent(await full()));
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
    expect(await workKeys(late)).toEqual([]);
    expect(await crawlsOf(projectId)).toEqual([jobId]);
    expect(bundleContent(await rig.read(jobId))).toEqual(bundleContent(await full()));
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

  it('is not missed where its archive was deleted, and damages one export at most where its objects were', async () => {
    const projectId = await rig.addProject(server.origin);
    const first = await rig.run(projectId);
    await rig.objects.delete([first.row.archiveKey ?? '']);
    const second = await rig.run(projectId);
    expect(second.report.reuse).toEqual({ unchangedAddresses: FILES, files: FILES, reusedFiles: 0 });
    expect(bundleContent(second)).toEqual(bundleContent(first));

    await rig.objects.delete([second.row.archiveKey ?? '', ...(await workKeys(first.row.id, second.row.id))]);
    const damaged = await rig.addJob(projectId);
    let failure: unknown;
    const around = (_stage: string, work: () => Promise<unknown>) =>
      work().catch((error: unknown) => {
        failure = error;
        throw error;
      });
    await rig.runStages(damaged, { around });
    expect(failure).toMatchObject({ type: 'ExportInputGone', nonRetryable: true });
    expect((await getExportJob(rig.db, damaged))?.status).toBe('failed');
    const third = await rig.run(projectId);
    expect(third.report.reuse?.unchangedAddresses).toBe(0);
    expect(bundleContent(third)).toEqual(bundleContent(first));
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
    expect(bundleContent(next)).toEqual(bundleContent(await full()));
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
    expect(await crawlsOf(plain)).toEqual([]);
    expect(await workKeys(first.row.id)).toEqual([]);
    expect((await rig.run(plain)).report.reuse).toEqual({ unchangedAddresses: 0, files: FILES, reusedFiles: 0 });
    expect(origin.unchanged).toEqual([]);
  });

  it('leads to what a page links to that a calendar may not go on to, whichever of them is asked first', async () => {
    const year = new Date().getUTCFullYear();
    const [last, next] = [`/events/${year + 5}/12`, `/events/${year + 6}/1`];
    const link = (path: string) => `<a href="${path}">there</a>`;
    const calendar = serveFiles({
      ...{ '/': link(last) + link('/launch'), [last]: link(next), '/launch': link(next), [next]: 'the launch' },
    });
    let delayMs = 0;
    const own = await startHttpSite(async (request, response) => {
      if (request.url === '/launch') await sleep(delayMs);
      calendar(request, response);
    });
    try {
      const projectId = await rig.addProject(own.origin);
      const first = await rig.run(projectId);
      delayMs = 500;
      const second = await rig.run(projectId);
      expect(second.files.has(`${next.slice(1)}.html`)).toBe(true);
      expect(second.manifest.contentSha256).toBe(first.manifest.contentSha256);
    } finally {
      await own.close();
    }
  });
});
