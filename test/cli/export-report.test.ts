import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBundle } from '../deployment/bundles.ts';
import { galley } from '../helpers/galley.ts';
import { type HttpSite, type SiteHandler, startHttpSite } from '../helpers/http-site.ts';

const JOB = '/v1/static-export/jobs/se_0123456789abcdef';

const REPORT = {
  jobId: 'se_0123456789abcdef',
  brokenLinks: [
    {
      url: 'https://docs.example.com/gone',
      reason: 'HTTP 404',
      status: 404,
      referrers: ['/', '/a', '/b', '/c'].map((path) => `https://docs.example.com${path}`),
    },
  ],
  redirects: [],
  skippedPages: [],
  leftOut: [
    { rule: 'nofollow', reason: 'only links with nofollow lead to it', count: 2, examples: [] },
    { rule: 'robots', reason: 'robots.txt disallows it', count: 1500, examples: [] },
  ],
  notices: [],
  truncated: false,
  counts: { brokenLinks: 12, redirects: 0, skippedPages: 1502 },
  reuse: { unchangedAddresses: 0, files: 31, reusedFiles: 0 },
};

let folder: string;
let service: HttpSite;
let archive: Buffer | string;
/** What the service answers beside the job's start: by method and path. */
let answers: Record<string, unknown>;

const answer: SiteHandler = (request, response) => {
  const path = `${request.method} ${request.url}`;
  if (path === 'GET /bundle.tar.gz') return response.end(archive);
  const body = path === 'POST /v1/static-export/jobs' ? { jobId: REPORT.jobId } : answers[path];
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
  return response.end(JSON.stringify(body ?? { error: 'There is no such endpoint' }));
};

/** Runs `galley export` against the service, in the test's folder. */
const exporting = (...options: string[]) => exportingTo('site.tar.gz', ...options);

const exportingTo = (out: string, ...options: string[]) =>
  galley(
    ['export', 'docs.example.com', '--out', out, ...options],
    { ADMIN_API_URL: service.origin, ADMIN_API_KEY: 'galley_test', GALLEY_HOME: join(folder, 'state') },
    folder,
  );

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-report-'));
  service = await startHttpSite(answer);
  archive = 'packed';
  answers = {
    [`GET ${JOB}`]: { status: 'completed', progress: 100, pageCount: 7 },
    [`POST ${JOB}/bundle`]: { bundleUrl: `${service.origin}/bundle.tar.gz` },
    [`GET ${JOB}/report`]: REPORT,
  };
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

describe('galley export', () => {
  it('ends with what is in the bundle, what was left out by which rule, and the broken links', async () => {
    const { code, stdout } = await exporting();
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(1)).toEqual([
      'Left out: 1502 URLs',
      '  1500  robots.txt disallows it',
      '     2  only links with nofollow lead to it',
      'Broken links: 12',
      '  https://docs.example.com/gone (HTTP 404) on https://docs.example.com/, https://docs.example.com/a, ' +
        'https://docs.example.com/b and 1 more',
      '  … and 11 more',
      '--report FILE writes a report that names them all.',
      '',
    ]);
    expect(stdout).toContain('site.tar.gz: 7 pages, 31 files, 6 bytes, job se_0123456789abcdef\n');
  });

  it('says so if nothing was left out and no link is broken', async () => {
    answers[`GET ${JOB}/report`] = { ...REPORT, leftOut: [], counts: { ...REPORT.counts, brokenLinks: 0 } };
    expect((await exporting()).stdout.split('\n').slice(1)).toEqual(['Left out: nothing', 'Broken links: none', '']);
  });

  it('writes the report with --report, also that of a failed job', async () => {
    const { code, stdout } = await exporting('--report', 'made/report.json');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Report: .*made\/report\.json$/m)]);
    expect(JSON.parse(await readFile(join(folder, 'made/report.json'), 'utf8'))).toEqual(REPORT);

    answers[`GET ${JOB}`] = { status: 'failed', error: 'The start page is missing' };
    const failed = await exporting('--report', 'failed.json');
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(/failed: The start page is missing/)]);
    expect(JSON.parse(await readFile(join(folder, 'failed.json'), 'utf8'))).toEqual(REPORT);
  });

  it('needs no report of a service that has none, unless it is asked for', async () => {
    delete answers[`GET ${JOB}/report`];
    const plain = await exporting();
    expect([plain.code, plain.stdout]).toEqual([
      0,
      expect.stringMatching(/^\S+site\.tar\.gz: 7 pages, 6 bytes, job \S+\n$/),
    ]);
    const asked = await exporting('--report', 'report.json');
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringMatching(/\/report was answered 404/)]);
    expect(await readdir(folder)).toEqual(['site.tar.gz']);
  });

  it('refuses before the export begins to write the report over a folder', async () => {
    const { code, stderr } = await exporting('--report', '.');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--report: expected a file/)]);
    expect(service.requests).toEqual([]);
  });

  it('fails by what --fail-on names, after the results are written', async () => {
    const failed = await exporting('--fail-on', 'broken-links,left-out');
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringContaining('--fail-on broken-links,left-out: 12 broken links, 1502 URLs left out'),
    ]);
    expect(failed.stdout).toContain('Broken links: 12');
    expect(await readdir(folder)).toEqual(['site.tar.gz']);
    answers[`GET ${JOB}/report`] = { ...REPORT, counts: { ...REPORT.counts, brokenLinks: 0 } };
    expect((await exporting('--fail-on', 'broken-links')).code).toBe(0);
    delete answers[`GET ${JOB}/report`];
    const unknown = await exporting('--fail-on', 'left-out');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('the service has none')]);
    const wrong = await exporting('--fail-on', 'links');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('broken-links and left-out')]);
  });

  it('prints the summary as JSON', async () => {
    const { code, stdout } = await exporting('--json', '--report', 'report.json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      jobId: REPORT.jobId,
      out: expect.stringMatching(/site\.tar\.gz$/),
      pageCount: 7,
      fileCount: 31,
      sizeBytes: 6,
      brokenLinkCount: 12,
      brokenLinks: REPORT.brokenLinks,
      leftOut: REPORT.leftOut,
      report: expect.stringMatching(/report\.json$/),
    });
  });
});

describe('galley export to a folder', () => {
  const page = (text: string) => buildBundle({ files: { 'index.html': text } });

  it('unpacks the bundle, and replaces an earlier export', async () => {
    archive = await page('<h1>One</h1>');
    const { code, stdout } = await exportingTo('made/site');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\S+made\/site: 7 pages/)]);
    expect((await readdir(join(folder, 'made/site'))).sort()).toEqual(['.galley', 'index.html']);
    archive = await page('<h1>Two</h1>');
    expect((await exportingTo('made/site')).code).toBe(0);
    expect(await readFile(join(folder, 'made/site/index.html'), 'utf8')).toBe('<h1>Two</h1>');
    expect(await readdir(join(folder, 'made'))).toEqual(['site']);
  });

  it('keeps the earlier export if the bundle is not valid', async () => {
    archive = await page('<h1>One</h1>');
    await exportingTo('site');
    archive = 'no archive';
    const { code, stderr } = await exportingTo('site');
    expect([code, stderr]).toEqual([1, expect.stringContaining("The bundle can't be unpacked")]);
    expect(await readFile(join(folder, 'site/index.html'), 'utf8')).toBe('<h1>One</h1>');
    expect(await readdir(folder)).toEqual(['site']);
  });

  it('is refused before the export begins if the folder holds something else', async () => {
    await mkdir(join(folder, 'notes'));
    await writeFile(join(folder, 'notes/mine.txt'), 'mine');
    const { code, stderr } = await exportingTo('notes');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--out: the folder \S+notes holds something else/)]);
    expect(service.requests).toEqual([]);
  });
});
