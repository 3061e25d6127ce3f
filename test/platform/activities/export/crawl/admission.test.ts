import { createAdmission } from '../../../../../platform/activities/export/crawl/admission.ts';
import { DEFAULT_LIMITS, type ExportLimits } from '../../../../../platform/activities/export/limits.ts';
import type { ResourceKind } from '../../../../../platform/activities/export/page/types.ts';
import type { ExportSettings } from '../../../../../platform/activities/export/settings.ts';

const HOME = 'https://docs.example.com';

function admissionFor(settings: Partial<ExportSettings> = {}, limits: Partial<ExportLimits> = {}) {
  const admission = createAdmission({
    settings: {
      jobId: 'se_0000000000000000',
      version: '1',
      createdAt: '2026-01-01T00:00:00Z',
      site: { domain: 'docs.example.com', origin: 'http://127.0.0.1:8080' },
      operatorHosts: [],
      external: 'bundle',
      keepHosts: [],
      scripts: 'auto',
      sourceMaps: 'omit',
      robots: 'respect',
      render: 'http',
      discover: 'http',
      pages: null,
      robotsTxt: '',
      ...settings,
    },
    limits: { ...DEFAULT_LIMITS, ...limits },
    urlCount: 0,
    variants: new Map(),
  });
  return (url: string, kind: ResourceKind = 'page', depth = 0) =>
    admission.admit({ url, kind }, { url: `${HOME}/`, depth });
}

describe('admission', () => {
  it("follows the site's pages and every host's assets, and no other site's pages", () => {
    const admit = admissionFor();
    expect(admit(`${HOME}/a`)).toMatchObject({ depth: 1, foundOn: `${HOME}/`, skip: null });
    expect(admit('https://cdn.example/a.css', 'asset')).toMatchObject({ skip: null });
    expect(admit('https://other.example/')).toBeUndefined();
    expect(admit(`${HOME}/form`, 'endpoint')).toBeUndefined();
  });

  it('asks for source maps only where the project keeps them', () => {
    expect(admissionFor()(`${HOME}/a.js.map`, 'source-map')).toBeUndefined();
    const admit = admissionFor({ sourceMaps: 'keep' });
    expect(admit(`${HOME}/a.js.map`, 'source-map')).toMatchObject({ skip: null });
    expect(admit('https://cdn.example/a.js.map', 'source-map')).toMatchObject({ skip: null });
  });

  it('leaves assets of other hosts as links where the project says so', () => {
    expect(admissionFor({ external: 'keep' })('https://cdn.example/a.css', 'asset')).toBeUndefined();
    const admit = admissionFor({ keepHosts: ['cdn.example'] });
    expect(admit('https://cdn.example/a.css', 'asset')).toBeUndefined();
    expect(admit('https://fonts.example/a.css', 'asset')).toMatchObject({ skip: null });
  });

  it('tells the frontier once of each address, and again only of a stronger use', () => {
    const admit = admissionFor();
    expect(admit(`${HOME}/a`, 'probe')).toBeDefined();
    expect(admit(`${HOME}/a`, 'probe')).toBeUndefined();
    expect(admit(`${HOME}/a`, 'page')).toBeDefined();
    expect(admit(`${HOME}/a`, 'asset')).toBeUndefined();
  });

  it('asks robots.txt for pages, not for what pages need', () => {
    const admit = admissionFor({ robotsTxt: 'User-agent: *\nDisallow: /private' });
    expect(admit(`${HOME}/private/page`)).toMatchObject({ rank: 0, skip: 'robots.txt disallows it' });
    expect(admit(`${HOME}/private/image.png`, 'asset')).toMatchObject({ skip: null });
  });

  it.each([
    ['not among the paths asked for', `${HOME}/other`, {}, { pages: [`${HOME}/only`] }, 0],
    ['more than 3 links away from the start page', `${HOME}/deep`, { maxDepth: 3 }, {}, 3],
    ['its path repeats itself', `${HOME}${'/a/b'.repeat(7)}`, {}, {}, 0],
    ['the export holds its most addresses, 0', `${HOME}/full`, { maxUrls: 0 }, {}, 0],
    ['the address is longer than 2000 characters', `${HOME}/${'x'.repeat(2_000)}`, {}, {}, 0],
  ])('says of what it leaves out that %s', (reason, url, limits, settings, depth) => {
    expect(admissionFor(settings, limits)(url, 'page', depth)).toMatchObject({ rank: 0, skip: reason });
  });

  it('follows so many query strings of a path and no more, but all of what pages need', () => {
    const admit = admissionFor({}, { maxQueryVariants: 2 });
    const skips = ['?a', '?b', '?c'].map((query) => admit(`${HOME}/list${query}`)?.skip);
    expect(skips).toEqual([null, null, 'its path has more than 2 query strings']);
    expect(admit(`${HOME}/list?d`, 'asset')).toMatchObject({ skip: null });
    expect(admit(`${HOME}/elsewhere?a`)).toMatchObject({ skip: null });
  });
});
