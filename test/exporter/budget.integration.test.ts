import { gzipSync } from 'node:zlib';
import type { ExportLimits } from '../../exporter/limits.ts';
import { getCrawl } from '../../platform/store/crawls.ts';
import { getExportJob } from '../../platform/store/export-jobs.ts';
import { type SiteHandler, serveFiles } from '../helpers/http-site.ts';
import { type StagesFixture, startStagesFixture } from '../platform/activities/export/stages-fixture.ts';

const TEXT = `<p>${'galley '.repeat(3_000)}`;
const FILM = Buffer.alloc(150_000, 'film');
/** With these limits, the film is streamed and the export has several batches. */
const SMALL = { maxBufferedBytes: 100_000, batchFiles: 2 };

let stages: StagesFixture;

beforeAll(async () => {
  stages = await startStagesFixture();
});

afterAll(() => stages.stop());

/** A site with a compressed page, a film whose first response breaks off, and a page whose first response is 503. */
function unsteadySite(): SiteHandler {
  const failed = new Set<string>();
  const failsFirst = (path: string): boolean => !failed.has(path) && failed.add(path) !== undefined;
  const files = serveFiles({
    '/': '<a href="/text">text</a><a href="/late">late</a><a href="/none">none</a><video src="/film.mp4"></video>',
    '/text': { body: gzipSync(TEXT), headers: { 'content-encoding': 'gzip' } },
    '/late': '<p>late',
    '/film.mp4': { body: FILM, contentType: 'video/mp4' },
  });
  return (request, response) => {
    if (request.url === '/late' && failsFirst('/late')) response.writeHead(503).end();
    else if (request.url === '/film.mp4' && failsFirst('/film.mp4')) {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': FILM.length });
      response.write(FILM.subarray(0, 100), () => request.socket.end());
    } else files(request, response);
  };
}

async function spendingOf(jobId: string) {
  const crawl = await getCrawl(stages.rig.db, jobId);
  if (crawl === undefined) throw new Error('The crawl does not exist');
  const { fileCount, decodedBytes, storedBytes } = crawl;
  return { fileCount, decodedBytes, storedBytes };
}

/** Exports the unsteady site and returns the job's id. */
async function run(limits: Partial<ExportLimits>): Promise<string> {
  stages.server.setHandler(unsteadySite());
  const jobId = await stages.job({ incremental: false });
  await stages.rig.runStages(jobId, { limits: { ...SMALL, ...limits } });
  return jobId;
}

describe('the limits of one export', () => {
  let spent: Awaited<ReturnType<typeof spendingOf>>;

  beforeAll(async () => {
    stages.server.setHandler(unsteadySite());
    const jobId = await stages.job({ incremental: false });
    await stages.rig.runStages(jobId, { limits: SMALL, until: 'pack' });
    spent = await spendingOf(jobId);
    const { rows } = await stages.rig.db.execute<{ files: number; stored: number; members: number }>(`
      select count(*)::float8 as files, sum(byte_length + extraction_length)::float8 as stored,
        (select sum(size_bytes)::float8 from crawl_batches where job_id = '${jobId}') as members
      from crawl_urls where job_id = '${jobId}' and outcome = 'file'`);
    const { files = 0, stored = 0, members = 0 } = rows[0] ?? {};
    expect(spent).toMatchObject({ fileCount: files, storedBytes: stored + members });
    // The compressed page counts with its decoded size.
    expect(spent.decodedBytes).toBeGreaterThan(TEXT.length + FILM.length);
    expect(spent.decodedBytes).toBeLessThan(TEXT.length + FILM.length + 1_000);
  });

  it.each([
    ['fileCount', 'maxFiles', 'EXPORT_MAX_FILES'],
    ['decodedBytes', 'maxDecodedBytes', 'EXPORT_MAX_DECODED_BYTES'],
    ['storedBytes', 'maxStoredBytes', 'EXPORT_MAX_BYTES'],
  ] as const)(
    'allow exactly the %s; with one less the export fails and names the limit',
    async (count, limit, variable) => {
      const enough = spent[count];
      const whole = await run({ [limit]: enough });
      expect(await getExportJob(stages.rig.db, whole)).toMatchObject({ status: 'completed' });
      const failed = await run({ [limit]: enough - 1 });
      const value = count === 'fileCount' ? `${enough - 1}` : `${enough - 1}B`;
      const error = expect.stringContaining(
        `(${variable}=${value}). Leave out what is large, or set a higher ${variable}`,
      );
      expect(await getExportJob(stages.rig.db, failed)).toMatchObject({ status: 'failed', error });
      expect(await stages.rig.keys(`exports/${failed}/`)).toEqual([]);
    },
  );

  it('end an export during the download of an endless file', async () => {
    stages.server.setHandler((request, response) => {
      if (request.url !== '/film.mp4') return serveFiles({ '/': '<video src="/film.mp4"></video>' })(request, response);
      response.writeHead(200, { 'content-type': 'video/mp4' });
      const more = (): void => {
        if (!response.destroyed) response.write(FILM, more);
      };
      return more();
    });
    const jobId = await stages.job();
    await stages.rig.runStages(jobId, { limits: { ...SMALL, maxStoredBytes: 1024 ** 2 } });
    const error = expect.stringContaining('EXPORT_MAX_BYTES=1MiB');
    expect(await getExportJob(stages.rig.db, jobId)).toMatchObject({ status: 'failed', error });
    expect(await stages.rig.keys(`exports/${jobId}/`)).toEqual([]);
  });
});
