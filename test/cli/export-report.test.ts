import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { galley } from '../helpers/galley.ts';
import { type HttpSite, type SiteHandler, startHttpSite } from '../helpers/http-site.ts';

const JOB = '/v1/static-export/jobs/se_0123456789abcdef';

const REPORT = {
  jobId: 'se_0123456789abcdef',
  brokenLinks: [{ url: 'https://docs.example.com/gone', reason: 'HTTP 404', status: 404, referrers: [] }],
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
/** What the service answers beside the job's start: by method and path. */
let answers: Record<string, unknown>;

const answer: SiteHandler = (request, response) => {
  const path = `${request.method} ${request.url}`;
  if (path === 'GET /bundle.tar.gz') return response.end('packed');
  const body = path === 'POST /v1/static-export/jobs' ? { jobId: REPORT.jobId } : answers[path];
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
  return response.end(JSON.stringify(body ?? { error: 'There is no such endpoint' }));
};

/** Runs `galley export` against the service, in the test's folder. */
const exporting = (...options: string[]) =>
  galley(
    ['export', 'docs.example.com', '--out', 'site.tar.gz', ...options],
    { ADMIN_API_URL: service.origin, ADMIN_API_KEY: 'galley_test', GALLEY_HOME: join(folder, 'state') },
    folder,
  );

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-report-'));
  service = await startHttpSite(answer);
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
      'Left out: 1502 addresses',
      '  1500  robots.txt disallows it',
      '     2  only links with nofollow lead to it',
      'Broken links: 12',
      '--report FILE writes a report that names them.',
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
});
