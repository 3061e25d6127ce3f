import { rememberStoredUrls } from '../../../exporter/crawl/report-urls.ts';
import type { FoundUrl } from '../../../exporter/crawl-records.ts';
import { createJobCache } from '../../../exporter/job-cache.ts';
import { rankOf } from '../../../exporter/urls/resource-rank.ts';

function found(url: string, kind: 'page' | 'asset' | 'probe'): FoundUrl {
  return { url, rank: rankOf(kind), depth: 1, foundOn: null, skip: null, take: false };
}

describe('the cache of stored URLs', () => {
  const stored = rememberStoredUrls(createJobCache());

  it('has the stored URLs of each job separately', () => {
    stored('one').add([found('https://a.example/', 'page')]);
    expect(stored('one').has({ url: 'https://a.example/', kind: 'page' })).toBe(true);
    expect(stored('one').has({ url: 'https://a.example/b', kind: 'page' })).toBe(false);
    expect(stored('two').has({ url: 'https://a.example/', kind: 'page' })).toBe(false);
  });

  it('covers weaker uses of a URL, but not stronger ones', () => {
    stored('one').add([found('https://a.example/c', 'asset')]);
    expect(stored('one').has({ url: 'https://a.example/c', kind: 'probe' })).toBe(true);
    expect(stored('one').has({ url: 'https://a.example/c', kind: 'page' })).toBe(false);
    expect(stored('one').hasFound(found('https://a.example/c', 'page'))).toBe(false);
    stored('one').add([found('https://a.example/c', 'probe')]);
    expect(stored('one').hasFound(found('https://a.example/c', 'asset'))).toBe(true);
  });

  it('does not cover URLs with query strings before they are counted', () => {
    stored('one').add([found('https://a.example/?a=1', 'page')]);
    expect(stored('one').has({ url: 'https://a.example/?a=1', kind: 'page' })).toBe(false);
    expect(stored('one').hasFound(found('https://a.example/?a=1', 'page'))).toBe(true);
  });
});
