import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { askStatus } from '../../activities/deployments/ask-status.ts';
import { bundlePathOf } from '../../bundle/fetch/link.ts';
import { type Entry, packTar, sha256 } from './bundles.ts';
import { type Fixture, openFixture, type Running } from './fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const FILES: Record<string, string> = {
  'index.html': '<title>home</title>',
  '404.html': '<title>nothing here</title>',
  'guides/start.html': '<title>start</title>',
  'blog/index.html': '<title>blog</title>',
  'app.js': 'let a = 1;',
  'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  LICENSE: 'free',
  page: '<!doctype html><title>no extension</title>',
};

const entriesOf = (files: Record<string, string>, prefix = ''): Entry[] =>
  Object.entries(files).map(([name, content]) => ({
    header: { name: prefix + name, type: 'file' },
    content: Buffer.from(content),
  }));
const archiveOf = async (files: Record<string, string>, prefix = ''): Promise<Buffer> =>
  gzipSync(await packTar(entriesOf(files, prefix)));

async function deploy(archive: Buffer, values: Record<string, unknown> = {}, options = {}): Promise<Running> {
  const file = join(fixture.folder, 'site.tar.gz');
  await writeFile(file, archive);
  await fixture.writeValues({ enabled: true, bundleUrl: pathToFileURL(file).href, ...values });
  return await fixture.start(options);
}

const served = ({ url, until }: Running) =>
  until('served', ({ state, stale }) => state === 'serving' && !stale).then(() => url);

/** Status, type and text, without following redirects. */
async function get(url: string, path: string) {
  const response = await fetch(url + path, { redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('a bundle without a manifest', () => {
  it('is served as static hosts serve it, under its own version', async () => {
    const archive = await archiveOf(FILES);
    const running = await deploy(archive);
    const url = await served(running);
    const found = await Promise.all(
      ['/', '/guides/start', '/guides/start.html', '/blog/', '/app.js', '/logo.svg', '/LICENSE', '/page'].map(
        async (path) => {
          const { status, headers, text } = await get(url, path);
          return [path, status, headers.get('content-type'), text];
        },
      ),
    );
    expect(found).toEqual([
      ['/', 200, 'text/html; charset=utf-8', FILES['index.html']],
      ['/guides/start', 200, 'text/html; charset=utf-8', FILES['guides/start.html']],
      ['/guides/start.html', 200, 'text/html; charset=utf-8', FILES['guides/start.html']],
      ['/blog/', 200, 'text/html; charset=utf-8', FILES['blog/index.html']],
      ['/app.js', 200, 'text/javascript; charset=utf-8', FILES['app.js']],
      ['/logo.svg', 200, 'image/svg+xml', FILES['logo.svg']],
      ['/LICENSE', 200, 'application/octet-stream', FILES.LICENSE],
      ['/page', 200, 'text/html; charset=utf-8', FILES.page],
    ]);
    expect(await get(url, '/nowhere')).toMatchObject({ status: 404, text: FILES['404.html'] });
    const version = sha256(archive).slice(0, 12);
    const link = pathToFileURL(join(fixture.folder, 'site.tar.gz')).href;
    const expected = { version, jobId: null, domain: null, pageCount: 5, bundlePath: sha256(link), lastError: null };
    expect(await running.status()).toMatchObject(expected);
    await running.stop();
    const again = await fixture.start();
    expect(await again.until('reopened', ({ stale }) => !stale)).toMatchObject(expected);
  });

  it('is confirmed by the path of its link, so that no good version is rolled back', async () => {
    const running = await deploy(await archiveOf(FILES));
    const url = await served(running);
    const bundlePath = bundlePathOf(pathToFileURL(join(fixture.folder, 'site.tar.gz')).href);
    const wanted = { jobId: 'job_of_the_service', version: '2026-11-27.1', bundlePath };
    expect(await askStatus(`${url}/-/status`, wanted)).toMatchObject({ is: 'served', jobId: null });
    // Another link may lead to the same bundle, so it is no evidence either.
    const other = { ...wanted, bundlePath: 'e'.repeat(64) };
    expect((await askStatus(`${url}/-/status`, other)).is).not.toBe('served');
  });

  it('may have all of its files under one top folder, and ./ before every name', async () => {
    const url = await served(await deploy(await archiveOf({ ...FILES, _redirects: '/old /blog/ 302' }, './site-1.2/')));
    expect((await get(url, '/guides/start')).text).toBe(FILES['guides/start.html']);
    expect((await get(url, '/old')).headers.get('location')).toBe('/blog/');
  });

  it.each(['gnu', 'pax', 'ustar', 'v7'])('is read as tar writes it in the format %s', async (format) => {
    const names =
      format === 'v7' || format === 'ustar' ? {} : { [`${'long/'.repeat(50)}x.html`]: 'deep', 'größe.txt': 'ü' };
    const all: Record<string, string> = { ...FILES, ...names };
    for (const [path, content] of Object.entries(all)) {
      await mkdir(dirname(join(fixture.folder, 'tree', path)), { recursive: true });
      await writeFile(join(fixture.folder, 'tree', path), content);
    }
    const file = join(fixture.folder, 'made.tar.gz');
    await promisify(execFile)('tar', ['-czf', file, `--format=${format}`, '-C', join(fixture.folder, 'tree'), '.']);
    const url = await served(await deploy(await readFile(file)));
    for (const [path, content] of Object.entries(all)) {
      expect((await get(url, `/${path.split('/').map(encodeURIComponent).join('/')}`)).text).toBe(
        path === 'index.html' ? FILES['index.html'] : content,
      );
    }
  });

  it('downloads nothing if a refreshed link has the same path and ETag', async () => {
    const archive = await archiveOf(FILES);
    const requests: string[] = [];
    const origin = await fixture.serve((request, response) => {
      const isSame = request.headers['if-none-match'] === '"1"';
      requests.push(`${request.url} ${isSame ? 304 : 200}`);
      response.writeHead(isSame ? 304 : 200, { ETag: '"1"' }).end(isSame ? undefined : archive);
    });
    await fixture.writeValues({ enabled: true, bundleUrl: `${origin}/b?signature=1` });
    const running = await fixture.start();
    const { bundlePath } = await running.until('served', ({ stale }) => !stale);
    await fixture.writeValues({ enabled: true, bundleUrl: `${origin}/b?signature=2` });
    await running.until('refreshed', ({ stale }) => requests.length > 1 && !stale);
    expect(requests).toEqual(['/b?signature=1 200', '/b?signature=2 304']);
    expect(bundlePath).toBe(sha256(`${origin}/b`));
  });
});

describe('the rules of a bundle', () => {
  const rules = {
    ...FILES,
    _redirects: [
      '/old /guides/start 301',
      '/blog/* /index.html 200',
      '/app.js /logo.svg 302!',
      '/news/:year/* https://news.test/:year/:splat 308',
      '/app/* /page 200',
      '/gone/* /LICENSE 404',
      '/out/* /:splat 302',
      '/loop /loop/ 301',
      '/de/* /en/:splat 302 Country=de',
    ].join('\n'),
    _headers:
      '/*\n  X-All: 1\n  X-Frame-Options: DENY\n  Cache-Control: public, max-age=60\n/guides/start\n  X-All: 2\n',
  };

  it('are honored: files come first unless a rule has !, and what is not supported is said', async () => {
    const url = await served(await deploy(await archiveOf(rules)));
    const at = async (path: string) => {
      const { status, headers, text } = await get(url, path);
      return [status, headers.get('location') ?? text];
    };
    expect(await at('/old?a=1')).toEqual([301, '/guides/start?a=1']);
    expect(await at('/old/')).toEqual([301, '/guides/start']);
    expect(await at('/blog/')).toEqual([200, FILES['blog/index.html']]);
    expect(await at('/blog/2026')).toEqual([200, FILES['index.html']]);
    expect(await at('/app.js')).toEqual([302, '/logo.svg']);
    expect(await at('/news/2026/a/b')).toEqual([308, 'https://news.test/2026/a/b']);
    expect(await at('/app/any/route')).toEqual([200, FILES.page]);
    expect(await at('/gone/away')).toEqual([404, FILES.LICENSE]);
    expect(await at('/out/%5Cevil.test')).toEqual([302, '/%5Cevil.test']);
    expect(await at('/out/a%3Fb%20c/é')).toEqual([302, '/a%3Fb%20c/%C3%A9']);
    expect(await at('/out/%2Fevil.test')).toEqual([302, '/.//evil.test']);
    expect(await at('/loop')).toEqual([404, FILES['404.html']]);
    expect(await at('/de/a')).toEqual([404, FILES['404.html']]);
    expect(await at('/_redirects')).toEqual([404, FILES['404.html']]);
    expect(await at('/_headers')).toEqual([404, FILES['404.html']]);
  });

  it('set headers, which the values file can change', async () => {
    const running = await deploy(await archiveOf(rules));
    const url = await served(running);
    expect(Object.fromEntries((await get(url, '/')).headers)).toMatchObject({
      'x-all': '1',
      'x-frame-options': 'DENY',
      'cache-control': 'public, max-age=60',
      'x-content-type-options': 'nosniff',
    });
    expect((await get(url, '/guides/start')).headers.get('x-all')).toBe('1, 2');
  });

  it('let no shared cache keep what visitors sign in for', async () => {
    const basicAuth = { user: 'a', password: 'b' };
    const url = await served(await deploy(await archiveOf(rules), {}, { basicAuth }));
    const authorization = `Basic ${Buffer.from('a:b').toString('base64')}`;
    const { headers } = await fetch(url, { headers: { authorization } });
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('x-all')).toBe('1');
  });
});

describe('a bundle without a manifest is refused, and the version before stays, if', () => {
  const file = (name: string, header: object = {}, content = 'x'): Entry => ({
    header: { name, type: 'file', ...header },
    content: Buffer.from(content),
  });
  const empty = Buffer.alloc(0);

  it.each<[string, Entry[], string]>([
    [
      'it has a hard link',
      [{ header: { name: 'a.html', type: 'link', linkname: 'b' }, content: empty }],
      '"a.html" is a hard link',
    ],
    [
      'it has a symlink',
      [{ header: { name: 'a', type: 'symlink', linkname: '/etc' }, content: empty }],
      '"a" is a symlink',
    ],
    [
      'it has a sparse file',
      [file('GNUSparseFile.0/x', { pax: { 'GNU.sparse.major': '1', 'GNU.sparse.name': 'big.bin' } })],
      '"big.bin" is a sparse file',
    ],
    ['a path leads out', [file('a/../../b')], 'holds the segment'],
    ['a path is absolute', [file('/etc/x')], 'is absolute'],
    ['a file occurs twice', [file('a.html'), file('./a.html')], 'occurs twice'],
    ['two files differ only in case', [file('a.html'), file('A.html')], 'differs only in case'],
    ['a file is a folder too', [file('a'), file('a/b')], 'is a file and a folder'],
    ["it uses Galley's folder", [file('index.html'), file('.galley/manifest.json')], "doesn't begin with"],
    ['it is empty', [{ header: { name: 'a/', type: 'directory' }, content: empty }], 'has no files'],
  ])('%s', async (_, entries, message) => {
    const before = await deploy(await archiveOf(FILES));
    await served(before);
    await writeFile(
      join(fixture.folder, 'bad.tar.gz'),
      gzipSync(await packTar([file('z.html'), ...entries].slice(entries[0]?.header.type === 'directory' ? 1 : 0))),
    );
    await fixture.writeValues({ enabled: true, bundleUrl: pathToFileURL(join(fixture.folder, 'bad.tar.gz')).href });
    const { lastError, version } = await before.until('refused', (status) => status.lastError !== null);
    expect(lastError?.message).toContain(message);
    expect(version).toBe(sha256(await archiveOf(FILES)).slice(0, 12));
    expect((await get(before.url, '/')).text).toBe(FILES['index.html']);
  });

  it('an older sparse file of GNU tar is in it', async () => {
    const tree = join(fixture.folder, 'tree');
    await mkdir(tree);
    await promisify(execFile)('truncate', ['-s', '2M', join(tree, 'holes.bin')]);
    const archive = join(fixture.folder, 'holes.tar.gz');
    await promisify(execFile)('tar', ['-cSzf', archive, '--format=gnu', '-C', tree, '.']);
    const running = await deploy(await readFile(archive));
    const { lastError } = await running.until('refused', (status) => status.lastError !== null);
    expect(lastError?.message).toMatch(/"\.\/holes\.bin" is a sparse file/);
  });

  it.each([
    ['more files than allowed', { maxFiles: 3 }, 'more than the 3 files allowed'],
    ['more bytes than allowed', { maxUnpackedBytes: 20, maxFiles: 1_000 }, 'larger than the 20 bytes allowed'],
  ])('it has %s', async (_, limits, message) => {
    const running = await deploy(await archiveOf(FILES), {}, limits);
    const { lastError } = await running.until('refused', (status) => status.lastError !== null);
    expect(lastError?.message).toContain(message);
  });

  it('it unpacks to much more than allowed: no more of it is read', async () => {
    const running = await deploy(
      await archiveOf({ 'a.txt': '0'.repeat(20_000_000) }),
      {},
      { maxUnpackedBytes: 20, maxFiles: 3 },
    );
    const { lastError } = await running.until('refused', (status) => status.lastError !== null);
    expect(lastError?.message).toContain('unpacks to more than the 20 bytes allowed');
  });

  it.each([
    ['integrity', `sha256-${Buffer.alloc(32).toString('base64')}`],
    [
      'publicKey',
      '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n',
    ],
  ])('the values file requires %s', async (key, value) => {
    const running = await deploy(await archiveOf(FILES), { [key]: value });
    const { lastError, state } = await running.until('refused', (status) => status.lastError !== null);
    expect(lastError?.message).toContain(`it has no .galley/manifest.json, and staticExport.${key} requires one`);
    expect(state).toBe('empty');
  });

  it("a pin can't be checked, which the status says; a pin of the archive's hash can", async () => {
    const archive = await archiveOf(FILES);
    const running = await deploy(archive, { version: '2026-11-21.3' });
    const { lastError, pinnedVersion } = await running.until('said why', (status) => status.lastError !== null);
    expect(lastError?.message).toContain(`pins "2026-11-21.3", which can't be checked`);
    expect(pinnedVersion).toBe('2026-11-21.3');
    const bundleUrl = pathToFileURL(join(fixture.folder, 'site.tar.gz')).href;
    await fixture.writeValues({ enabled: true, bundleUrl, version: sha256(archive).slice(0, 12) });
    await running.until('served', ({ stale, lastError: error }) => !stale && error === null);
  });
});
