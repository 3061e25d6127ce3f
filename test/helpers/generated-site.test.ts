import { type GeneratedSite, startGeneratedSite } from './generated-site.ts';
import { walkSite } from './walk-site.ts';

const PAGES = 450;

describe('a generated site', () => {
  let site: GeneratedSite;

  beforeAll(async () => {
    site = await startGeneratedSite({ pages: PAGES, pageBytes: 300, validators: 'both' });
  });
  afterAll(() => site.stop());

  const text = async (path: string): Promise<string> => await (await fetch(site.url + path)).text();

  it('has as many pages as it was asked for, each reached by links, and nothing broken', async () => {
    await site.resetCounts();
    const { pages, broken } = await walkSite(`${site.url}/`);
    expect(pages.size).toBe(PAGES);
    expect([...broken]).toEqual([]);
    expect(await site.requestCounts()).toMatchObject({ repeated: 0, repeatedUrls: {} });
  });

  it('answers the same bytes each time until a share of its pages is edited', async () => {
    const paths = Array.from({ length: 100 }, (_, each) => `/part-0/section-${each % 20}/topic-${1 + (each % 19)}`);
    const texts = async (): Promise<string[]> => await Promise.all(paths.map(text));
    const before = await texts();
    expect(await texts()).toEqual(before);
    const { headers } = await fetch(`${site.url}/`);
    const asked = { headers: { 'if-none-match': headers.get('etag') ?? '' } };
    expect((await fetch(`${site.url}/`, asked)).status).toBe(304);
    await site.change({ changedShare: 0.2, edition: 2 });
    const after = await texts();
    const edited = after.filter((each, index) => each !== before[index]).length;
    expect(edited).toBeGreaterThan(0);
    expect(edited).toBeLessThan(paths.length / 2);
    await site.change({ edition: 0 });
    expect(await texts()).toEqual(before);
  });
});
