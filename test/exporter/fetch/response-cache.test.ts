import { cacheResponses, createResponseCache } from '../../../exporter/fetch/caching-fetcher.ts';
import type { Fetcher } from '../../../exporter/ports.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { fetcherFor } from './test-fetcher.ts';

let site: HttpSite;
let fetcher: Fetcher;
const { signal } = new AbortController();

beforeAll(async () => {
  site = await startHttpSite((request, response) => {
    response.statusCode = request.url === '/missing' ? 404 : 200;
    response.end(Buffer.alloc(2_000, request.url));
  });
  fetcher = fetcherFor([site.host]);
});

beforeEach(() => {
  site.requests.length = 0;
});

afterAll(async () => {
  await fetcher.close();
  await site.close();
});

const get = (from: Fetcher, path: string) => from.get(new URL(path, site.origin), { signal });

describe('answers at hand', () => {
  it('serve pages and the crawl of one export, and no other export', async () => {
    const memory = createResponseCache(100_000);
    const one = cacheResponses(fetcher, memory, 'se_1');
    await Promise.all([get(one, '/a'), get(one, '/a')]);
    await get(cacheResponses(fetcher, memory, 'se_1'), '/a');
    expect(site.requests).toEqual(['/a']);
    await get(cacheResponses(fetcher, memory, 'se_2'), '/a');
    expect(site.requests).toEqual(['/a', '/a']);
  });

  it('are only good ones, and only the newest that fit', async () => {
    const one = cacheResponses(fetcher, createResponseCache(11_000), 'se_1');
    for (const path of ['/missing', '/missing', '/1', '/2', '/3', '/4', '/1', '/5', '/1', '/2']) await get(one, path);
    expect(site.requests).toEqual(['/missing', '/missing', '/1', '/2', '/3', '/4', '/5', '/2']);
  });
});
