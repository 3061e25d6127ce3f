import { keepResponses } from '../../../exporter/fetch/caching-fetcher.ts';
import type { FetchedResponse, FetchResult } from '../../../exporter/fetch/fetch-result.ts';
import { createGate } from '../../helpers/system/gate.ts';

const URL_A = new URL('https://docs.example.com/');
const { signal } = new AbortController();
const page: FetchedResponse = { kind: 'response', status: 200, contentType: 'text/html', body: Buffer.from('<p>') };

/** A fetcher that answers so, in turn, once the gate is open, and counts what it was asked for. */
function keeping(...answers: FetchResult[]) {
  const gate = createGate();
  const get = async (): Promise<FetchResult> => {
    await gate.pass();
    return answers.shift() ?? page;
  };
  return { gate, kept: keepResponses({ get, space: () => undefined, close: async () => undefined }, 10) };
}

describe('keepResponses', () => {
  it('asks once for what is being asked for, or was answered', async () => {
    const { gate, kept } = keeping();
    const both = [kept.get(URL_A, { signal }), kept.get(URL_A, { signal })];
    expect(kept.has(URL_A)).toBe(false);
    gate.open();
    expect(await Promise.all(both)).toEqual([page, page]);
    expect(await kept.get(URL_A, { signal })).toEqual(page);
    expect([kept.has(URL_A), gate.arrivals]).toEqual([true, 1]);
  });

  it('gives a large answer only to the one who asked for it', async () => {
    const large = { ...page, body: Buffer.alloc(11) };
    const { gate, kept } = keeping(large, page);
    const asked = [kept.get(URL_A, { signal }), kept.get(URL_A, { signal })];
    gate.open();
    expect(await Promise.all(asked)).toEqual([large, page]);
  });

  it('asks again after an answer that may be another next time', async () => {
    const failure = { kind: 'failed', reason: 'HTTP 503', status: 503, soft: true, retryAfterMs: undefined } as const;
    const { gate, kept } = keeping(failure);
    gate.open();
    expect(await kept.get(URL_A, { signal })).toEqual(failure);
    expect(await kept.get(URL_A, { signal })).toEqual(page);
    expect(gate.arrivals).toBe(2);
  });
});
