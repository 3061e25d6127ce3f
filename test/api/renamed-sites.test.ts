import { createRenamedSites } from '../../api/renamed-sites.ts';
import { configWith } from './running-api.ts';

const config = configWith({ guide: {}, other: {} });

/** The renames that Temporal lists, oldest first, and a clock. */
function renamedSites(...renames: [site: string, to: string][]) {
  let nowMs = 0;
  const listings = { count: 0, fail: false };
  const list = async () => {
    listings.count += 1;
    if (listings.fail) throw new Error('no connection');
    return new Map(renames);
  };
  const sites = createRenamedSites({ config, list, now: () => new Date(nowMs) });
  return {
    ...sites,
    listings,
    renames,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe('the old names of sites', () => {
  it('lead to the configured site, also after several renames', async () => {
    const { find, oldNames } = renamedSites(['handbook', 'manual'], ['manual', 'guide'], ['gone', 'removed']);
    expect(await Promise.all(['handbook', 'manual', 'gone', 'unknown'].map(find))).toEqual([
      'guide',
      'guide',
      undefined,
      undefined,
    ]);
    expect(await oldNames('guide')).toEqual(['handbook', 'manual']);
    expect(await oldNames('other')).toEqual([]);
  });

  it('end at a name that the site has again, or that another site has', async () => {
    const { find, oldNames } = renamedSites(['guide', 'handbook'], ['handbook', 'guide'], ['other', 'guide']);
    expect(await find('handbook')).toBe('guide');
    expect(await find('other')).toBe('other');
    // Changes that began before another site got the name are still this site's.
    expect(await oldNames('guide')).toEqual(['handbook', 'other']);
  });

  it('are known at once where the site was renamed, until Temporal lists a later rename', async () => {
    const { find, add, renames, pass } = renamedSites();
    expect(await find('handbook')).toBeUndefined();
    add('handbook', 'guide');
    expect(await find('handbook')).toBe('guide');
    renames.push(['handbook', 'other']);
    pass(5_000);
    expect(await find('handbook')).toBe('other');
  });

  it('of renames in a circle without a configured site lead nowhere', async () => {
    expect(await renamedSites(['a', 'b'], ['b', 'a']).find('a')).toBeUndefined();
  });

  it('are listed at most every 5 seconds, however many names are tried', async () => {
    const { find, listings, renames, pass } = renamedSites();
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => find(`unknown-${index}`)));
    await find("no site' has this name");
    expect(listings.count).toBe(1);
    renames.push(['handbook', 'guide']);
    pass(4_999);
    expect(await find('handbook')).toBeUndefined();
    pass(1);
    expect(await find('handbook')).toBe('guide');
    expect(listings.count).toBe(2);
  });

  it('are unknown while Temporal is away: senders have to send again', async () => {
    const { find, listings, pass } = renamedSites(['handbook', 'guide']);
    listings.fail = true;
    await expect(find('handbook')).rejects.toMatchObject({ status: 503 });
    listings.fail = false;
    pass(5_000);
    expect(await find('handbook')).toBe('guide');
  });
});
