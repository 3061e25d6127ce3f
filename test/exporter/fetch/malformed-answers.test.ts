import type { Fetcher, FetchResult } from '../../../exporter/ports.ts';
import { MALFORMED, MAX_BODY_BYTES } from './malformed-answers.ts';
import { type RawSite, rawAnswer, startRawSite } from './raw-site.ts';
import { fetcherFor } from './test-fetcher.ts';

const { signal } = new AbortController();
const SOFT_CUT = {
  kind: 'failed',
  soft: true,
  reason: expect.stringMatching(/other side closed|the connection was closed|does not match/),
};

const LIMITS = { maxBufferedBytes: 500_000, maxBodyBytes: MAX_BODY_BYTES };

let site: RawSite;
let fetcher: Fetcher;

beforeAll(async () => {
  site = await startRawSite();
  fetcher = fetcherFor([site.host], { limits: LIMITS });
});

afterAll(async () => {
  await fetcher.close();
  await site.close();
});

/** Fetches a path and discards a large body. */
function get(from: Fetcher, path: string): Promise<FetchResult> {
  const sink = async (body: AsyncIterable<Buffer>): Promise<void> => {
    for await (const _ of body);
  };
  return from.get(new URL(path, site.origin), { signal, sink });
}

/** With a timeout of 200 ms, or a longer one if a busy machine needs that to read a response's head. */
async function getImpatiently(path: string, expected: RegExp, timeoutMs = 200): Promise<FetchResult> {
  const impatient = fetcherFor([site.host], { limits: { ...LIMITS, requestTimeoutMs: timeoutMs } });
  const result = await get(impatient, path);
  await impatient.close();
  if (!('reason' in result) || expected.test(result.reason) || !/^no response within/.test(result.reason))
    return result;
  return await getImpatiently(path, expected, 2 * timeoutMs);
}

describe('a malformed response', () => {
  it.each(MALFORMED)(
    '$name has the right result and is not read further',
    async ({ name, send, outcome, maxSentBytes }) => {
      site.setAnswer(send);
      const result = await ('isLate' in outcome
        ? getImpatiently(`/${name}`, outcome.reason)
        : get(fetcher, `/${name}`));
      if ('reason' in outcome) expect(result).toMatchObject({ reason: expect.stringMatching(outcome.reason) });
      else expect(result).toMatchObject({ kind: 'response', body: Buffer.from(outcome.body) });
      expect(site.bytesSent(`/${name}`)).toBeLessThan(maxSentBytes ?? Number.POSITIVE_INFINITY);
    },
  );

  const page = '<title>x</title><p>to its very end</p>';
  const chunked = `Transfer-Encoding: chunked\r\n\r\n${page.length.toString(16)}\r\n${page}\r\n0\r\n\r\n`;

  it.each([
    ['a length', rawAnswer(page)],
    ['chunks', Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${chunked}`)],
  ])('with %s that is cut at any byte is a soft failure', async (_, bytes) => {
    site.setAnswer((socket, path) => {
      socket.write(bytes.subarray(0, Number(path.slice(1))), () => socket.resetAndDestroy());
    });
    const results = await Promise.all(Array.from(bytes, (_byte, at) => get(fetcher, `/${at}`)));
    expect(results).toEqual(results.map(() => expect.objectContaining(SOFT_CUT)));
  });
});
