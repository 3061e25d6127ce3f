import { assignPath } from '../../../exporter/urls/assign-path.ts';
import type { ResourceKind } from '../../../exporter/urls/identity.ts';
import { normalizeUrl } from '../../../exporter/urls/identity.ts';
import { resolveCollisions } from '../../../exporter/urls/resolve-collisions.ts';
import fc, { anyCharacter } from '../../helpers/fast-check.ts';
import { SITE } from '../document/engine.ts';

const HTML = 'text/html; charset=utf-8';

function path(address: string, contentType: string, kind: ResourceKind = 'asset'): string {
  const url = normalizeUrl(address, SITE, 'https://docs.example.com/') ?? '';
  return assignPath({ url, contentType, kind }, SITE);
}

describe('the path of a page', () => {
  it.each([
    ['/', 'index.html'],
    ['/guides/start', 'guides/start.html'],
    ['/guides/', 'guides/index.html'],
    ['/guides/index.html', 'guides/index.html'],
    ['/a.htm', 'a.htm'],
    ['/a.php', 'a.php.html'],
    ['/release-1.2', 'release-1.2.html'],
    ['/a.html/', 'a.html/index.html'],
    ['/a?b=1', 'a.85955a110eb9.html'],
    ['/?b=1', 'index.85955a110eb9.html'],
    ['/%C3%BCber%20uns', 'über uns.html'],
    ['/100%25', '100%.html'],
    ['/a%2Fb', 'a%2Fb.html'],
    ['/a%00b', 'a%00b.html'],
    ['/a%C2%85b', 'a%C2%85b.html'],
    ['/%ff', '%FF.html'],
    ['/a:b*c', 'a%3Ab%2Ac.html'],
    ['https://docs.example.com//a///b', 'a/b.html'],
    ['/%252e%252e/x', '%2e%2e/x.html'],
    ['/dir./x', 'dir%2E/x.html'],
    ['/manual.zip', 'manual.zip.html'],
    ['/con', '_con.html'],
    ['/aux/x', '_aux/x.html'],
    ['/.galley/manifest.json', '_galley/manifest.json.html'],
    ['/.GALLEY/x', '_galley/x.html'],
    ['/.well-known/x', '.well-known/x.html'],
  ])('%s is %s', (address, expected) => {
    expect(path(address, HTML, 'page')).toBe(expected);
  });
});

describe('the path of a file', () => {
  it.each([
    ['/assets/app.BZd9-_.js', 'text/javascript', 'assets/app.BZd9-_.js'],
    ['/style.css?v=2', 'text/css', 'style.5de144d3edb3.css'],
    ['/style.php', 'text/css', 'style.php.css'],
    ['/logo', 'image/png', 'logo.png'],
    ['/photo.jpeg', 'image/png', 'photo.jpeg'],
    ['/app.js', HTML, 'app.js'],
    ['/embedded', HTML, 'embedded.html'],
    ['/LICENSE', 'text/plain', 'LICENSE.txt'],
    ['/v1.2', 'text/plain', 'v1.2'],
    ['/data.map', 'application/json', 'data.map'],
    ['/blob', 'application/octet-stream', 'blob'],
    ['/u/caf%EF%BF%BD.png', 'image/png', 'u/caf%EF%BF%BD.png'],
    ['/feed/', 'application/rss+xml', 'feed/index.xml'],
    ['https://fonts.example.org/css?family=A', 'text/css', '_external/fonts.example.org/css.4c2b0410c91d.css'],
    ['https://cdn.example.org:8443/a.js', 'text/javascript', '_external/cdn.example.org_8443/a.js'],
    ['http://[::1]:80/a.js', 'text/javascript', '_external/[__1]/a.js'],
  ])('%s of type %s is %s', (address, type, expected) => {
    expect(path(address, type)).toBe(expected);
  });

  it('that only a script string names stays exactly the same', () => {
    expect(path('/api/data', 'application/json', 'guess')).toBe('api/data');
    expect(path('/api/data', 'application/json', 'asset')).toBe('api/data.json');
    expect(path('/data.json?v=1', 'application/json', 'guess')).toBe('data.json');
  });

  it('is shortened with a hash if a name is longer than 200 bytes, and stays distinct', () => {
    const [one, two] = ['a', 'b'].map((last) => path(`/${'é'.repeat(300)}${last}.png`, 'image/png'));
    expect(one).not.toBe(two);
    expect(Buffer.byteLength(one ?? '')).toBeLessThanOrEqual(200);
    expect(one).toMatch(/^é+\.[0-9a-f]{16}\.png$/);
  });

  it('is never longer than a thousand bytes', () => {
    const long = path(`/${'folder/'.repeat(400)}x.png`, 'image/png');
    expect(long).toMatch(/^_long\/x\.[0-9a-f]{12}\.png$/);
  });
});

const claim = (url: string, file: string, sha256 = url) => ({
  url: `https://docs.example.com${url}`,
  path: file,
  sha256,
});

describe('paths that can’t coexist', () => {
  it.each([
    ['are equal', [claim('/a', 'a.html'), claim('/a.html', 'a.html')]],
    ['differ in case', [claim('/A', 'A.html'), claim('/a', 'a.html')]],
    ['differ in Unicode form', [claim('/1', '\u00e9.html'), claim('/2', 'e\u0301.html')]],
    ['are a file and a folder', [claim('/x.js', 'x.js'), claim('/x.js/y', 'x.js/y.html')]],
    ['are a file and a folder in another case', [claim('/X.js', 'X.js'), claim('/x.js/y', 'x.js/y.html')]],
  ])('because they %s: one gets a hash, in any order', (_, claims) => {
    const paths = resolveCollisions(claims);
    const forms = [...paths.values()].map((each) => each.normalize('NFC').toLowerCase());
    expect(new Set(forms).size).toBe(claims.length);
    expect(resolveCollisions([...claims].reverse())).toEqual(paths);
  });

  it('share the file if the content is the same', () => {
    const paths = resolveCollisions([
      claim('/g/', 'g/index.html', 'same'),
      claim('/g/index.html', 'g/index.html', 'same'),
    ]);
    expect([...paths.values()]).toEqual(['g/index.html', 'g/index.html']);
  });

  it('belong first to the URL that has exactly this path', () => {
    const path = '_external/cdn.example.org/a.js';
    const own = { ...claim(`/${path}`, path), right: 'exact' } as const;
    const other = { url: 'https://cdn.example.org/a.js', path, sha256: 'x' };
    expect(resolveCollisions([other, own]).get(own.url)).toBe(own.path);
  });

  it('give way to the not-found page', () => {
    const notFound = { ...claim('/zzz', '404.html'), right: 'pinned' } as const;
    const paths = resolveCollisions([claim('/404', '404.html'), notFound]);
    expect(paths.get(notFound.url)).toBe('404.html');
    expect(paths.get('https://docs.example.com/404')).toMatch(/^404\.[0-9a-f]{12}\.html$/);
  });
});

/** Names that some file system or archive tool rejects or misinterprets. */
const ODD_PATHS = [
  ...['/a/..%2f..%2f..%2fetc/passwd', '/a/%2e%2e/%2e%2e/outside', '/..%5c..%5cwindows', '/%2e%2e%2fhidden', '/%2e'],
  ...['/...', '/a/.%2e/b%2f', '/nul%00byte', '/line%0abreak%0d', '/tab%09bell%07', '/C:%5cboot.ini'],
  ...['/%2fetc%2fshadow', '//double//slashes', '/.galley/manifest.json', '/.GALLEY/page', '/con', '/aux.html'],
  ...['/nul.tar.html', '/COM1', '/lpt9.page', '/prn/child', '/trailing.', '/trailing%20', '/stars*and?questions'],
  ...['/pipe%7Cquote%22angle%3C%3E', '/Case', '/case', '/CASE', '/caf%C3%A9', '/cafe%CC%81', '/caf%E9'],
  ...['/folder', '/folder/child', '/folder.html', '/folder.html/child', '/-rf', '/~root', '/$(id)'],
  ...['/%F0%9F%92%A5', '/%E2%80%AEtxt.exe', `/${'n'.repeat(300)}`, `/${'%C3%BC'.repeat(150)}`],
  `/${Array.from({ length: 30 }, (_, index) => `${index}-${'d'.repeat(60)}`).join('/')}`,
];
const UNSAFE = /^\.galley(?:\/|$)|[\p{Cc}"*:<>?\\|]/u;
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/** Expects that the URLs' paths are valid and distinct on every file system, and inside the root. */
function expectSafePaths(addresses: Iterable<readonly [address: string, contentType: string]>): void {
  const urls = new Map(
    [...addresses].map(([each, type]) => [normalizeUrl(each, SITE, 'https://docs.example.com/') ?? '', type]),
  );
  urls.delete('');
  const claims = [...urls].map(([url, contentType]) => {
    return { url, path: assignPath({ url, contentType, kind: 'asset' }, SITE), sha256: url };
  });
  const paths = [...resolveCollisions(claims).values()];
  const keys = new Set(paths.map((each) => each.normalize('NFC').toLowerCase().normalize('NFC')));
  expect(keys.size).toBe(claims.length);
  for (const key of keys) {
    expect(key).not.toMatch(UNSAFE);
    const segments = key.split('/');
    for (const [index, segment] of segments.entries()) {
      expect(segment).not.toMatch(/^(?:\.{0,2}|.*[. ])$/s);
      expect(segment).not.toMatch(DEVICE);
      expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(230);
      // Nothing is both a file and a folder.
      if (index > 0) expect(keys).not.toContain(segments.slice(0, index).join('/'));
    }
  }
}

describe('the paths of any set of URLs', () => {
  const segment = fc.oneof(
    fc.constantFrom(...['a', 'A', 'index', 'index.html', 'a.html', 'a.js', '%2e%2e', '..', 'CON', '%00', '.galley']),
    fc.constantFrom('404', 'x.'),
    fc
      .string({ unit: anyCharacter, maxLength: 12 })
      .map((text) => encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ''))),
  );
  const address = fc
    .tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.constantFrom('', '?a', '?b'), fc.boolean())
    .map(([segments, query, own]) => `${own ? '' : 'https://other.example.org'}/${segments.join('/')}${query}`);
  const type = fc.constantFrom(HTML, 'text/css', 'image/png', 'application/json', '');

  it('are inside the root, never in `.galley/`, and distinct on every file system', () => {
    fc.assert(fc.property(fc.array(fc.tuple(address, type), { maxLength: 30 }), expectSafePaths));
  });

  it('are also safe for names that file systems reject', () => {
    expectSafePaths(ODD_PATHS.map((path) => [`https://docs.example.com${path}`, HTML]));
  });
});
