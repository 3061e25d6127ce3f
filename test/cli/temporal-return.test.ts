import { untilTemporalReturns } from '../../cli/programs/temporal-return.ts';

/** Doesn't answer for so long. */
function silentFor(silenceMs: number): () => Promise<boolean> {
  const untilMs = Date.now() + silenceMs;
  return async () => Date.now() >= untilMs;
}

describe('untilTemporalReturns', () => {
  test('tells once of an outage, and resolves when it is over', async () => {
    let told = 0;
    await untilTemporalReturns(silentFor(10_000), AbortSignal.timeout(60_000), () => {
      told += 1;
    });
    expect(told).toBe(1);
  });

  test('takes a short silence for nothing', async () => {
    let told = 0;
    const returned = untilTemporalReturns(silentFor(3_000), AbortSignal.timeout(8_000), () => {
      told += 1;
    });
    await expect(returned).rejects.toThrow('aborted');
    expect(told).toBe(0);
  });
});
