import { createCrawlScope } from '../../../exporter/crawl/crawl-scope.ts';
import { DEFAULT_LIMITS, type ExportLimits } from '../../../exporter/limits.ts';
import type { ExportSettings } from '../../../exporter/settings.ts';
import type { ResourceKind } from '../../../exporter/urls/identity.ts';

const HOME = 'https://docs.example.com';

function scopeFor(
  settings: Partial<ExportSettings> = {},
  limits: Partial<ExportLimits> = {},
  variants = new Map<string, Set<string>>(),
) {
  const scope = createCrawlScope({
    settings: {
      jobId: 'se_0000000000000000',
      version: '1',
      createdAt: '2026-01-01T00:00:00Z',
      site: { domain: 'docs.example.com', origin: 'http://127.0.0.1:8080' },
      operatorHosts: [],
      search: 'off',
      external: 'bundle',
      keepHosts: [],
      scripts: 'auto',
      sourceMaps: 'omit',
      robots: 'respect',
      render: 'http',
      discover: 'http',
      precompress: [],
      pages: null,
      robotsTxt: '',
      ...settings,
    },
    limits: { ...DEFAULT_LIMITS, ...limits },
    urlCount: 0,
    variants,
    skips: new Map(),
    guessCount: 0,
  });
  return (url: string, kind: ResourceKind = 'page', depth = 0, from = `${HOME}/`) =>
    scope.admit({ url, kind }, { url: from, depth });
}

describe('the scope of a crawl', () => {
  it("follows the site's pages and every host's assets, and no other site's pages", () => {
    const admit = scopeFor();
    expect(admit(`${HOME}/a`)).toMatchObject({ depth: 1, foundOn: `${HOME}/`, skip: null });
    expect(admit('https://cdn.example/a.css', 'asset')).toMatchObject({ skip: null });
    expect(admit('https://other.example/')).toBeUndefined();
    expect(admit(`${HOME}/form`, 'endpoint')).toBeUndefined();
  });

  it('requests source maps only if the project keeps them', () => {
    expect(scopeFor()(`${HOME}/a.js.map`, 'source-map')).toBeUndefined();
    const admit = scopeFor({ sourceMaps: 'keep' });
    expect(admit(`${HOME}/a.js.map`, 'source-map')).toMatchObject({ skip: null });
    expect(admit('https://cdn.example/a.js.map', 'source-map')).toMatchObject({ skip: null });
  });

  it('keeps assets of other hosts as links if the project says so', () => {
    expect(scopeFor({ external: 'keep' })('https://cdn.example/a.css', 'asset')).toBeUndefined();
    const admit = scopeFor({ keepHosts: ['cdn.example'] });
    expect(admit('https://cdn.example/a.css', 'asset')).toBeUndefined();
    expect(admit('https://fonts.example/a.css', 'asset')).toMatchObject({ skip: null });
  });

  it('admits each URL once, and again only for a stronger use', () => {
    const admit = scopeFor();
    expect(admit(`${HOME}/a`, 'probe')).toBeDefined();
    expect(admit(`${HOME}/a`, 'probe')).toBeUndefined();
    expect(admit(`${HOME}/a`, 'page')).toBeDefined();
    expect(admit(`${HOME}/a`, 'asset')).toBeUndefined();
  });

  it('applies robots.txt to pages, but not to the resources that pages need', () => {
    const admit = scopeFor({ robotsTxt: 'User-agent: *\nDisallow: /private' });
    expect(admit(`${HOME}/private/page`)).toMatchObject({ rank: -1, skip: 'robots.txt disallows it' });
    expect(admit(`${HOME}/private/image.png`, 'asset')).toMatchObject({ skip: null });
    expect(admit(`${HOME}/private/chunk`, 'probe')).toMatchObject({ skip: null });
  });

  it('follows a nofollow link only if another link without nofollow has the same target', () => {
    const admit = scopeFor();
    expect(admit(`${HOME}/a`, 'unfollowed')).toMatchObject({ rank: -1, skip: 'only links with nofollow lead to it' });
    expect(admit(`${HOME}/a`, 'unfollowed')).toBeUndefined();
    expect(admit(`${HOME}/a`)).toMatchObject({ skip: null });
    expect(admit(`${HOME}/a`, 'unfollowed')).toBeUndefined();
    expect(admit('https://other.example/', 'unfollowed')).toBeUndefined();
  });

  it('follows everything if the project ignores robots.txt', () => {
    const admit = scopeFor({ robotsTxt: 'User-agent: *\nDisallow: /', robots: 'ignore' });
    expect(admit(`${HOME}/a`, 'unfollowed')).toMatchObject({ rank: 5, skip: null });
    expect(admit(`${HOME}/b`)).toMatchObject({ skip: null });
  });

  const FAR_OFF = 'its date is more than 5 years ahead, or 40 back';

  it('does not follow a calendar for years in either direction, and mistakes no other numbers for dates', () => {
    const scope = scopeFor();
    const from = (path: string, to: string) => scope(`${HOME}${to}`, 'page', 0, `${HOME}${path}`)?.skip;
    expect(from('/events/2031/11', '/events/2031/12')).toBeNull();
    expect(from('/events/2031/12', '/events/2032/1')).toBe(FAR_OFF);
    expect(from('/day-2031-12-31', '/day-2032-01-01')).toBe(FAR_OFF);
    expect(from('/', '/events/2032/1')).toBeNull();
    expect(from('/events/1987/1', '/events/1986/12')).toBeNull();
    expect(from('/events/1986/1', '/events/1985/12')).toBe(FAR_OFF);
    expect(from('/day-1986-01-01', '/day-1985-12-31')).toBe(FAR_OFF);
    expect(from('/', '/archive/1985/7')).toBeNull();
    expect(from('/threads/1200/3', '/threads/1200/4')).toBeNull();
    expect(from('/threads/2014/3', '/threads/1200/1')).toBeNull();
    expect(from('/parts/9000/13', '/parts/9001/14')).toBeNull();
    expect(from('/a/12032/1', '/a/12033/1')).toBeNull();
  });

  it('lists a limited number of URLs per skip rule', () => {
    const admit = scopeFor({ robotsTxt: 'User-agent: *\nDisallow: /private' });
    const named = Array.from({ length: 10_050 }, (_, index) => admit(`${HOME}/private/${index}`));
    expect(named.filter((found) => found !== undefined)).toHaveLength(10_000);
    expect(admit(`${HOME}/open`)).toMatchObject({ skip: null });
  });

  it.each([
    ['not among the requested paths', `${HOME}/other`, {}, { pages: [`${HOME}/only`] }, 0],
    ['more than 3 links away from the start page', `${HOME}/deep`, { maxDepth: 3 }, {}, 3],
    ['its path repeats itself', `${HOME}${'/a/b'.repeat(7)}`, {}, {}, 0],
    [
      'its path has more than 40 folders',
      `${HOME}${Array.from({ length: 41 }, (_, index) => `/${index}`).join('')}`,
      {},
      {},
      0,
    ],
    ['the export already has 0 URLs', `${HOME}/full`, { maxUrls: 0 }, {}, 0],
    ['the URL is longer than 2000 characters', `${HOME}/${'x'.repeat(2_000)}`, {}, {}, 0],
  ])('skips a URL with the reason: %s', (reason, url, limits, settings, depth) => {
    expect(scopeFor(settings, limits)(url, 'page', depth)).toMatchObject({ rank: -1, skip: reason });
  });

  it('tries guesses only on the site, within robots.txt, the rules for paths and a budget', () => {
    const admit = scopeFor({ robotsTxt: 'User-agent: *\nDisallow: /private' }, { maxGuesses: 2, maxDepth: 3 });
    expect(admit(`${HOME}/a.glb`, 'guess')).toMatchObject({ rank: 0, skip: null });
    expect(admit('https://cdn.example/a.glb', 'guess')).toBeUndefined();
    expect(admit(`${HOME}/private/a.glb`, 'guess')).toBeUndefined();
    expect(admit(`${HOME}${'/a/b'.repeat(7)}.glb`, 'guess')).toBeUndefined();
    expect(admit(`${HOME}/deep.glb`, 'guess', 3)).toBeUndefined();
    expect(admit(`${HOME}/a.glb?v=1`, 'guess')).toMatchObject({ skip: null });
    const skip = 'the export has already tried 2 values that may be URLs';
    expect(admit(`${HOME}/b.glb`, 'guess')).toMatchObject({ rank: -1, skip });
    expect(admit(`${HOME}/b.glb`, 'asset')).toMatchObject({ rank: 4, skip: null });
    expect(admit(`${HOME}/private/a.glb`, 'asset')).toMatchObject({ skip: null });
  });

  it('tries a guess although a nofollow link leads to it, in any order', () => {
    const admit = scopeFor();
    expect(admit(`${HOME}/a.pdf`, 'unfollowed')).toMatchObject({ rank: -1 });
    expect(admit(`${HOME}/a.pdf`, 'guess')).toMatchObject({ rank: 0, skip: null });
    expect(admit(`${HOME}/a.pdf`, 'unfollowed')).toBeUndefined();
  });

  it('limits the query strings per path for pages, but not for the resources that pages need', () => {
    const admit = scopeFor({}, { maxQueryVariants: 2 });
    const skips = ['?a', '?b', '?c'].map((query) => admit(`${HOME}/list${query}`)?.skip);
    expect(skips).toEqual([null, null, 'its path has more than 2 query strings']);
    expect(admit(`${HOME}/list?d`, 'asset')).toMatchObject({ skip: null });
    expect(admit(`${HOME}/elsewhere?a`)).toMatchObject({ skip: null });
  });

  it('counts a query string once, also if another worker found it', () => {
    const known = new Map([[`${HOME}/list`, new Set(['?a', '?b'])]]);
    const admit = scopeFor({}, { maxQueryVariants: 3 }, known);
    const skips = ['?a', '?b', '?a', '?c', '?d'].map((query) => admit(`${HOME}/list${query}`)?.skip);
    expect(skips).toEqual([null, null, undefined, null, 'its path has more than 3 query strings']);
  });
});
