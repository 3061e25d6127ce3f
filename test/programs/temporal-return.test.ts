import { untilTemporalReturns } from '../../programs/temporal/run-worker.ts';

/** Waits for a Temporal that is silent from the first question for `silenceMs`, until `endMs` of a clock of its own. */
async function waitFor(silenceMs: number, endMs: number): Promise<{ returned: boolean; outages: number }> {
  let nowMs = 0;
  let outages = 0;
  const end = new AbortController();
  const clock = {
    now: () => nowMs,
    async sleep(ms: number, signal: AbortSignal) {
      nowMs += ms;
      if (nowMs > endMs) end.abort();
      signal.throwIfAborted();
    },
  };
  const countOutage = (): void => {
    outages += 1;
  };
  const wait = untilTemporalReturns(async () => nowMs >= silenceMs, end.signal, countOutage, clock);
  const returned = await wait.then(
    () => true,
    () => false,
  );
  return { returned, outages };
}

describe('untilTemporalReturns', () => {
  test('reports an outage once, and resolves when it is over', async () => {
    expect(await waitFor(10_000, 60_000)).toEqual({ returned: true, outages: 1 });
  });

  test('ignores a short silence', async () => {
    expect(await waitFor(7_000, 60_000)).toEqual({ returned: false, outages: 0 });
  });
});
