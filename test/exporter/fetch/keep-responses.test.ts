import { keepResponses } from '../../../exporter/fetch/caching-fetcher.ts';
import type { FetchedResponse, FetchResult } from '../../../exporter/ports.ts';
import { createGate } from '../../helpers/system/gate.ts';

const URL_A = new URL('https://docs.example.com/');
const { signal } = new AbortController();
const page: FetchedResponse = { kind: 'response', status: 200, contentType: 'text/html', body: Buffer.from('<p>') };

/** A fetcher that returns these results in turn once the gate is open. The gate counts the requests. */
function keeping(...results: FetchResult[]) {
  const gate = createGate();
  const get = async (): Promise<FetchResult> => {
    await gate.pass();
    return results.shift() ?? page;
  };
  return { gate, kept: keepResponses({ get, space: () => undefined, close: async () => undefined }, 10) };
}

describe('keepResponses', () => {
  it('fetches a URL once, also for concurrent and later requests', async () => {
    const { gate, kept } = keeping();
    const both = [kept.get(URL_A, { signal }), kept.get(URL_A, { signal })];
    expect(kept.has(URL_A)).toBe(false);
    gate.open();
    expect(await Promise.all(both)).toEqual([page, page]);
    expect(await kept.get(URL_A, { signal })).toEqual(page);
    expect([kept.has(URL_A), gate.arrivals]).toEqual([true, 1]);
  });

  it('does not share a large response', async () => {
    const large = { ...page, body: Buffer.alloc(11) };
    const { gate, kept } = keeping(large, page);
    const pending = [kept.get(URL_A, { signal }), kept.get(URL_A, { signal })];
    gate.open();
    expect(await Promise.all(pending)).toEqual([large, page]);
  });

  it('fetches again after a temporary failure', async () => {
    const failure = { kind: 'failed', reason: 'HTTP 503', status: 503, soft: true, retryAfterMs: undefined } as const;
    const { gate, kept } = keeping(failure);
    gate.open();
    expect(await kept.get(URL_A, { signal })).toEqual(failure);
    expect(await kept.get(URL_A, { signal })).toEqual(page);
    expect(gate.arrivals).toBe(2);
  });
});
