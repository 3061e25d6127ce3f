import { isOfSite, isWanted, normalizeReference, normalizeUrl, originUrl } from '../../../exporter/urls/identity.ts';
import fc, { anyCharacter } from '../../helpers/fast-check.ts';
import { SITE } from '../document/engine.ts';

const BASE = 'https://docs.example.com/guides/start';
const identity = (url: string) => normalizeUrl(url, SITE, BASE);

describe('the normalized URL', () => {
  it.each([
    ['/a#b', '/a'],
    ['../x/./y/../z', '/x/z'],
    ['/%7euser/%c3%bc', '/~user/%C3%BC'],
    ['/it%27s(1).html', "/it's(1).html"],
    ['/a%2fb%2Bc%26d%3D', '/a%2Fb%2Bc&d='],
    ['/über uns', '/%C3%BCber%20uns'],
    ['/a?', '/a'],
    ['?q=%7E&r=%26', '/guides/start?q=~&r=%26'],
    ['HTTP://DOCS.example.COM:80/a', '/a'],
    ['https://docs.example.com:443', '/'],
    ['https://docs.example.com./a', '/a'],
    ['http://127.0.0.1:8080/a', '/a'],
    ['/a|b[c]^', '/a%7Cb%5Bc%5D%5E'],
    ['/a\\b', '/a/b'],
    [' /a\n/b\t', '/a/b'],
  ])('of %j is %s on the public domain', (url, path) => {
    expect(identity(url)).toBe(`https://docs.example.com${path}`);
  });

  it.each([
    ['http://127.0.0.1:8081/a', 'http://127.0.0.1:8081/a'],
    ['https://docs.example.com:8443/a', 'https://docs.example.com:8443/a'],
    ['//CDN.example.org/a', 'https://cdn.example.org/a'],
    ['https://bücher.example/a', 'https://xn--bcher-kva.example/a'],
  ])('of %s is %s, of another site', (url, expected) => {
    expect(identity(url)).toBe(expected);
    expect(isOfSite(expected, SITE)).toBe(false);
  });

  it.each([
    'mailto:a@b.c',
    'JavaScript:x',
    'data:,x',
    'tel:1',
    'blob:https://x/y',
    'https://u:p@x.org/',
    'http://',
    '//.',
    'https://docs.example.com../a',
    'x:y',
  ])('of %s is none', (url) => expect(identity(url)).toBeUndefined());

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.oneof(fc.webPath(), fc.webUrl(), fc.string(), fc.string({ unit: anyCharacter })), (text) => {
        const once = identity(text);
        expect(once === undefined ? undefined : identity(once)).toBe(once);
      }),
    );
  });

  it('of a reference is the same with and without the URL parser', () => {
    const segment = fc.constantFrom('', '.', '..', 'a', '~b', 'c.html', '.d', '..e', 'f-_.', '%2e', 'g?h', 'x:y', 'z#');
    const bases = ['', 'page.html', 'a/', 'a/b/c.html', 'a?q=/x/..', '?/'].map(
      (path) => `https://docs.example.com/${path}`,
    );
    const base = fc.constantFrom(...bases, 'http://cdn.example.org:81/a/b', 'https://cdn.example.org/');
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 6 }), base, (segments, from) => {
        const written = segments.join('/');
        expect(normalizeReference(written, SITE, from)).toBe(normalizeUrl(written, SITE, from));
      }),
      { numRuns: 2_000 },
    );
  });

  it('of a reference may be very long', () => {
    const long = `${'a/'.repeat(8_000_000)}b`;
    expect(normalizeReference(long, SITE, BASE)).toBe(`https://docs.example.com/guides/${long}`);
  });

  it('is fetched from the origin; URLs of other sites stay unchanged', () => {
    expect(originUrl('https://docs.example.com/a?b', SITE)).toBe('http://127.0.0.1:8080/a?b');
    expect(originUrl('https://other.org/a', SITE)).toBe('https://other.org/a');
  });
});

describe('the crawl', () => {
  it.each([
    ['page', true, false, false],
    ['asset', true, true, false],
    ['probe', true, false, false],
    ['identity', true, false, false],
    ['card', true, false, false],
    ['endpoint', false, false, false],
  ] as const)(
    'fetches a resource of kind %s: own %s, of other hosts %s, of other hosts kept as links %s',
    (kind, own, other, kept) => {
      expect(isWanted({ kind, url: 'https://docs.example.com/x' }, SITE, { external: 'bundle', keepHosts: [] })).toBe(
        own,
      );
      expect(isWanted({ kind, url: 'https://other.org/x' }, SITE, { external: 'bundle', keepHosts: [] })).toBe(other);
      expect(isWanted({ kind, url: 'https://other.org/x' }, SITE, { external: 'keep', keepHosts: [] })).toBe(kept);
    },
  );
});
