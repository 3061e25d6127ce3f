import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportReport } from '../../contract/admin-api.ts';
import { galley, galleyHere, spawnService } from '../helpers/galley.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../helpers/http-site.ts';
import { readBundleArchive } from '../helpers/read-bundle.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const ROBOTS = { body: 'User-agent: *\nDisallow: /private', contentType: 'text/plain' };
const PAGES = {
  '/': '<a href="/guide/">Guide</a><a href="/private/a">A</a><a href="/private/b">B</a><a href="/login" rel="nofollow">',
  '/guide/': '<a href="/gone">Gone</a><img src="/logo.svg" alt="">',
  '/logo.svg': { body: '<svg xmlns="http://www.w3.org/2000/svg"/>', contentType: 'image/svg+xml' },
};
/** A site without skipped URLs and broken links. */
const COMPLETE = { '/': '<a href="/guide/">Guide</a>', '/guide/': '<a href="/">Start</a>' };

const folder = emptiedFolder();
let site: HttpSite;

/** Runs `galley export` for the site in the test's folder. */
const exporting = (...options: string[]) => exportingTo('site.tar.gz', ...options);

const exportingTo = (out: string, ...options: string[]) => galleyHere(exportTo(out, ...options), variables(), folder);

/** The same in a separate process. */
const exportingApart = (...options: string[]) => galley(exportTo('site.tar.gz', ...options), variables(), folder);

const exportTo = (out: string, ...options: string[]) => [
  ...['export', 'docs.example.com', '--origin', site.origin, '--out', out],
  ...options,
];

/** A separate process's temporary folder shows what the command leaves behind. */
const variables = () => ({ TMPDIR: join(folder, 'tmp'), GALLEY_HOME: join(folder, 'home'), LOG_LEVEL: 'error' });

/** The content of the test's folder, without its temporary folder, which must be empty. */
async function left(): Promise<string[]> {
  expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  return (await readdir(folder)).filter((name) => name !== 'tmp').sort();
}

beforeEach(async () => {
  await mkdir(join(folder, 'tmp'));
  site = await startHttpSite(serveFiles({ ...PAGES, '/robots.txt': ROBOTS }));
});

afterEach(async () => {
  await site.close();
});

const SITEMAP = 'Sitemap: made, because the origin has none';

describe('galley export', () => {
  it('writes the archive, shows progress, and lists skipped URLs by rule and broken links', async () => {
    const { code, stdout, stderr } = await exportingApart();
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/docs\.example\.com 100 % \| 2 pages \| completed\n$/),
    });
    const { size } = await stat(join(folder, 'site.tar.gz'));
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^\\S+site\\.tar\\.gz: 2 pages, 7 files, ${size} bytes$`)),
      'Left out: 3 URLs',
      '  2  robots.txt disallows it',
      '  1  only links with nofollow lead to it',
      'Broken links: 1',
      '  https://docs.example.com/gone (HTTP 404) on https://docs.example.com/guide/',
      SITEMAP,
      '--report FILE writes a report that names them all.',
      '',
    ]);
    const { files } = await readBundleArchive(await readFile(join(folder, 'site.tar.gz')));
    expect([...files.keys()]).toEqual([
      '.nojekyll',
      '404.html',
      'guide/index.html',
      'index.html',
      'logo.svg',
      'robots.txt',
      'sitemap.xml',
    ]);
    expect(await left()).toEqual(['site.tar.gz']);
  });

  it('reports that nothing was left out and no link is broken, also when run from source', async () => {
    site.setHandler(serveFiles(COMPLETE));
    const args = ['export', 'docs.example.com', '--origin', site.origin, '--out', 'site.tgz'];
    const { stdout } = await galley(args, variables(), folder, 'source');
    expect(stdout.split('\n').slice(1)).toEqual(['Left out: nothing', 'Broken links: none', SITEMAP, '']);
  });

  it('exports a domain in another script by its name in the DNS', async () => {
    const args = ['export', 'Bücher.example', '--origin', site.origin, '--out', 'site.tgz', '--json'];
    const { code, stdout } = await galleyHere(args, variables(), folder);
    expect([code, stdout]).toEqual([0, expect.stringContaining('"pageCount"')]);
    const { manifest } = await readBundleArchive(await readFile(join(folder, 'site.tgz')));
    expect(manifest.domain).toBe('xn--bcher-kva.example');
  });

  it('writes the report with --report, also that of an export that fails', async () => {
    const { code, stdout } = await exporting('--report', 'made/report.json');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Report: .*made\/report\.json$/m)]);
    const reportOf = async (file: string) => exportReport.parse(JSON.parse(await readFile(join(folder, file), 'utf8')));
    expect((await reportOf('made/report.json')).counts).toEqual({
      brokenLinks: 1,
      brokenAnchors: 0,
      redirects: 0,
      skippedPages: 3,
      originUrls: 0,
    });

    site.setHandler(serveFiles({ '/': { body: '', status: 302, headers: { location: '/gone' } } }));
    const failed = await exporting('--report', 'failed.json');
    expect([failed.code, failed.stdout, failed.stderr]).toEqual([
      1,
      '',
      expect.stringContaining(`galley: ${site.origin}/gone can't be exported: HTTP 404.`),
    ]);
  });

  it('prints the summary as JSON', async () => {
    const { code, stdout } = await exporting('--json', '--report', 'report.json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      jobId: expect.stringMatching(/^se_[0-9a-f]{16}$/),
      out: join(folder, 'site.tar.gz'),
      pageCount: 2,
      fileCount: 7,
      reusedFileCount: 0,
      sizeBytes: (await stat(join(folder, 'site.tar.gz'))).size,
      contentSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      brokenLinkCount: 1,
      brokenLinks: [expect.objectContaining({ url: 'https://docs.example.com/gone', status: 404 })],
      brokenAnchorCount: 0,
      brokenAnchors: [],
      leftOut: [expect.objectContaining({ count: 2 }), expect.objectContaining({ count: 1 })],
      unread: [],
      search: null,
      markdown: { fetched: 0, made: 0 },
      sitemapMade: true,
      originUrlCount: 0,
      report: join(folder, 'report.json'),
    });
  });

  it('fails for the conditions of --fail-on, after it has written the results', async () => {
    const failed = await exportingApart('--fail-on', 'broken-links,left-out');
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringContaining('--fail-on broken-links,left-out: 1 broken links, 3 URLs left out'),
    ]);
    expect(failed.stdout).toContain('Broken links: 1');
    expect(await left()).toEqual(['site.tar.gz']);
    site.setHandler(serveFiles(COMPLETE));
    expect((await exporting('--fail-on', 'broken-links,left-out')).code).toBe(0);
    const wrong = await exporting('--fail-on', 'links');
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('a list of broken-links, broken-anchors, left-out'),
    ]);
  });

  it('exports a script that would end its parser as it is, and names it', async () => {
    // Without a bound, the parser fills the stack, and V8 ends the process.
    const body = `r.u=e=>""+e;${'`${'.repeat(1_500)}`;
    const script = { body, contentType: 'text/javascript' };
    site.setHandler(
      serveFiles({ '/': '<script src="/runtime.js"></script><a href="/a">', '/a': 'A', '/runtime.js': script }),
    );
    const { code, stdout, stderr } = await exportingApart('--fail-on', 'unread', '--report', 'report.json');
    expect([code, stderr]).toEqual([1, expect.stringContaining('--fail-on unread: 1 documents not read')]);
    expect(stdout).toContain('https://docs.example.com/runtime.js (the script nests too deep)');
    const report = exportReport.parse(JSON.parse(await readFile(join(folder, 'report.json'), 'utf8')));
    expect(report.unread).toEqual([
      { url: 'https://docs.example.com/runtime.js', reason: 'the script nests too deep' },
    ]);
    const { files } = await readBundleArchive(await readFile(join(folder, 'site.tar.gz')));
    expect([...files.keys()]).toEqual(['.nojekyll', '404.html', 'a.html', 'index.html', 'runtime.js', 'sitemap.xml']);
    expect(String(files.get('runtime.js'))).toBe(body);
  });

  it('names a page that ends inside an element of text, and rewrites what comes before', async () => {
    const body = '<a href="/a">a</a><title>An endless title <a href="/b">b</a>';
    site.setHandler(serveFiles({ '/': body, '/a': '<svg><title/></svg><a href="/">' }));
    const { code, stdout, stderr } = await exporting('--fail-on', 'unread');
    expect([code, stderr]).toEqual([1, expect.stringContaining('--fail-on unread: 1 documents not read')]);
    expect(stdout).toContain(
      'https://docs.example.com/ (its <title> at byte 18 is never closed, so all that follows is text)',
    );
    const { files } = await readBundleArchive(await readFile(join(folder, 'site.tar.gz')));
    expect([...files.keys()]).toEqual(['.nojekyll', '404.html', 'a.html', 'index.html', 'sitemap.xml']);
    expect(String(files.get('index.html'))).toBe(body.replace('/a', 'a.html'));
  });

  it('unpacks the bundle to a folder, and replaces an earlier export', async () => {
    const { code, stdout } = await exportingTo('made/site');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\S+made\/site: 2 pages/)]);
    const names = ['.galley', '.nojekyll', '404.html', 'guide', 'index.html', 'logo.svg', 'robots.txt', 'sitemap.xml'];
    expect((await readdir(join(folder, 'made/site'))).sort()).toEqual(names);
    site.setHandler(serveFiles(COMPLETE));
    expect((await exportingTo('made/site')).code).toBe(0);
    expect((await readdir(join(folder, 'made/site'))).sort()).toEqual([
      '.galley',
      '.nojekyll',
      '404.html',
      'guide',
      'index.html',
      'sitemap.xml',
    ]);
    expect(await readdir(join(folder, 'made'))).toEqual(['site']);
  });

  it.each([
    [
      'an output folder that holds something else',
      ['--out', 'notes'],
      /--out: the folder \S+notes holds something else/,
    ],
    ['a folder as the report', ['--out', 'x.tgz', '--report', '.'], /--report: expected a file/],
    [
      'an origin with a path',
      ['--out', 'x.tgz', '--origin', 'http://127.0.0.1:1/docs'],
      /--origin: expected only scheme/,
    ],
  ])('refuses %s before the export begins', async (_what, options, reason) => {
    await mkdir(join(folder, 'notes'));
    await writeFile(join(folder, 'notes/mine.txt'), 'mine');
    const args = ['export', 'docs.example.com', '--origin', site.origin, ...options];
    const { code, stderr } = await galleyHere(args, variables(), folder);
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
    expect(site.requests).toEqual([]);
  });
});

describe('galley export of a site that cannot be exported', () => {
  it('names the requested URL and a remedy, and leaves nothing behind', async () => {
    const args = ['export', 'docs.example.com', '--origin', 'http://127.0.0.1:1', '--out', 'site.tar.gz'];
    const { code, stderr } = await galley(args, variables(), folder);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/galley: http:\/\/127\.0\.0\.1:1\/ can't be exported: .*Check that the server runs/),
    ]);
    expect(await left()).toEqual([]);
  });

  it('ends at once if the start page is missing or needs a login', async () => {
    site.setHandler((_request, response) => response.writeHead(401).end());
    const login = await exporting();
    expect([login.code, login.stderr]).toEqual([
      1,
      expect.stringContaining(`${site.origin}/ can't be exported: HTTP 401`),
    ]);
    expect(login.stderr).toContain('The export has no login');
    expect(site.requests).toEqual(['/']);
  });

  it('writes the report of the crawl before the failure', async () => {
    // The start page exists at first, but is gone when the crawl requests it.
    let count = 0;
    site.setHandler((request, response) => {
      const isThere = request.url === '/' && count === 0;
      count += 1;
      response.writeHead(isThere ? 200 : 404, { 'content-type': 'text/html' }).end('<p>');
    });
    const { code, stderr } = await exportingApart('--report', 'report.json');
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("The start page https://docs.example.com/ (at its origin) can't be fetched: HTTP 404"),
    ]);
    const report = exportReport.parse(JSON.parse(await readFile(join(folder, 'report.json'), 'utf8')));
    expect(report.brokenLinks).toMatchObject([{ url: 'https://docs.example.com/', status: 404 }]);
    expect(await left()).toEqual(['report.json']);
  });
});

describe('Ctrl-C', () => {
  it('ends the export with exit code 1 and leaves nothing behind', async () => {
    const args = ['export', 'docs.example.com', '--origin', site.origin, '--out', 'site.tar.gz'];
    const running = new Promise<Awaited<ReturnType<typeof spawnService>>>((resolve) => {
      site.setHandler((request, response) => {
        // The page never responds.
        if (request.url === '/guide/') void started.then(resolve);
        else serveFiles(PAGES)(request, response);
      });
    });
    const started = spawnService(args, variables(), folder);
    const { process: child, ready, output } = await running;
    const ended = new Promise((resolve) => child.once('close', resolve));
    ready.catch(() => undefined);
    child.kill('SIGINT');
    expect(await ended).toBe(1);
    expect(output()).toContain('galley: The export was canceled');
    expect(await left()).toEqual([]);
  });
});
