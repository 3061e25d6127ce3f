import { backoff, spreadMs } from '../../base/backoff.ts';

describe('a back-off', () => {
  it.each([
    [{ firstMs: 5_000, maxMs: 60_000 }, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]],
    [{ firstMs: 30_000, maxMs: 3_600_000 }, [30_000, 60_000, 120_000, 240_000, 480_000, 960_000]],
    [{ firstMs: 300_000, maxMs: 3_600_000 }, [300_000, 600_000, 1_200_000, 2_400_000, 3_600_000, 3_600_000]],
    [{ firstMs: 1_000, maxMs: 20_000, factor: 3 }, [1_000, 3_000, 9_000, 20_000, 20_000, 20_000]],
  ])('of %j grows by its factor up to its maximum', (options, delaysMs) => {
    expect(delaysMs.map((_, index) => backoff(options)(index + 1))).toEqual(delaysMs);
    expect(backoff(options)(10_000)).toBe(options.maxMs);
  });
});

describe('a wait with jitter', () => {
  it('is never shorter, at most a fifth longer, and shorter after earlier rejections', () => {
    expect([spreadMs(1_000, 1, 0), spreadMs(1_000, 1, 1), spreadMs(1_000, 4, 1)]).toEqual([1_000, 1_200, 1_050]);
  });
});
