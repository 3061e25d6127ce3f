import { createOriginLimiter } from '../../../exporter/fetch/origin-limiter.ts';
import fc from '../../helpers/fast-check.ts';
import { crawlSimulated, createSimulatedClock, oneAtATime, type SimulatedOrigin } from './simulated-origin.ts';

const { signal } = new AbortController();

function setUp(bounds = { initial: 4, max: 48 }) {
  const clock = createSimulatedClock();
  return { clock, limiter: createOriginLimiter({ ...bounds, clock }) };
}

describe('the origin limiter', () => {
  it('grows to the maximum number of connections while latency is stable', async () => {
    const { endedAtMs, most } = await crawlSimulated(setUp(), { pages: 1_169, origin: () => ({ latencyMs: 20 }) });
    expect(most).toBe(48);
    // 25 rounds of 48 take 500 ms. Finding the limit costs a few more round trips.
    expect(endedAtMs).toBeLessThan(700);
  });

  it('does not shrink because of jitter', async () => {
    const { limits } = await crawlSimulated(setUp(), {
      pages: 2_000,
      origin: ({ number }) => ({ latencyMs: 15 + ((number * 7_919) % 31) }),
    });
    expect(Math.min(...limits.slice(500))).toBe(48);
  });

  it('sends few concurrent requests to an origin that handles them one after another', async () => {
    const { most, limits, endedAtMs } = await crawlSimulated(setUp(), { pages: 300, origin: oneAtATime(200) });
    expect(most).toBeLessThanOrEqual(12);
    expect(Math.max(...limits.slice(50))).toBeLessThanOrEqual(10);
    // The origin is never idle, so the low limit costs no time.
    expect(endedAtMs).toBe(300 * 200);
  });

  it('grows again if only the pages are slow, not the origin', async () => {
    const origin: SimulatedOrigin = ({ number }) => ({ latencyMs: number < 400 ? 2 : 400 });
    const { limits } = await crawlSimulated(setUp(), { pages: 1_200, origin });
    expect(limits.at(-1)).toBe(48);
    expect(Math.min(...limits.slice(400))).toBeGreaterThanOrEqual(2);
  });

  it('halves once for concurrent overload responses, then grows slowly', async () => {
    const { limiter, clock } = setUp();
    await crawlSimulated({ limiter, clock }, { pages: 400, origin: () => ({ latencyMs: 20 }) });
    expect(limiter.limitOf('origin')).toBe(48);
    await crawlSimulated({ limiter, clock }, { pages: 48, origin: () => ({ latencyMs: 20, outcome: 'overloaded' }) });
    // Concurrent requests cause one halving, not 48.
    expect(limiter.limitOf('origin')).toBe(24);
    await crawlSimulated({ limiter, clock }, { pages: 25, origin: () => ({ latencyMs: 20 }) });
    expect(limiter.limitOf('origin')).toBe(25);
    expect(limiter.limitOf('another')).toBe(4);
  });

  it('finds about as many connections as the origin accepts', async () => {
    const origin: SimulatedOrigin = ({ active }) =>
      active > 10 ? { latencyMs: 5, outcome: 'overloaded' } : { latencyMs: 50 };
    const { limits } = await crawlSimulated(setUp(), { pages: 2_000, origin });
    const late = limits.slice(500);
    expect(Math.max(...late)).toBeLessThanOrEqual(11);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(4);
  });

  it('starts no request while the origin is paused', async () => {
    const { limiter, clock } = setUp();
    limiter.pause('origin', 150_000);
    const { starts } = await crawlSimulated({ limiter, clock }, { pages: 3, origin: () => ({ latencyMs: 1 }) });
    expect(starts).toEqual([150_000, 150_000, 150_000]);
  });

  it('limits an excessive pause to five minutes, and rejects waiting requests if the origin repeats it', async () => {
    const { limiter, clock } = setUp({ initial: 1, max: 1 });
    const startedAt: number[] = [];
    const ask = async (then: (release: Awaited<ReturnType<typeof limiter.acquire>>) => void): Promise<string> => {
      try {
        const release = await limiter.acquire('origin', signal);
        startedAt.push(clock.nowMs());
        then(release);
        return 'asked';
      } catch (error) {
        return String(error);
      }
    };
    const overload = () =>
      ask((release) => {
        limiter.pause('origin', 999_999_999_000);
        release({ kind: 'overloaded' });
      });
    const serve = () => ask((release) => release({ kind: 'completed', latencyMs: 1 }));
    // Only one request probes the origin after the pause.
    limiter.pause('origin', 999_999_999_000);
    const first = [overload(), serve(), serve()];
    await clock.run();
    expect(startedAt).toEqual([300_000]);
    const rejected = 'OriginAskedForQuiet: the origin asks to be left alone for more than 5 minutes';
    expect(await Promise.all(first)).toEqual(['asked', rejected, rejected]);
    expect(await serve()).toBe(rejected);

    // Five minutes later the origin gets another request and responds.
    clock.after(300_000, () => undefined);
    await clock.run();
    expect(await serve()).toBe('asked');
    limiter.pause('origin', 999_999_999_000);
    const second = [serve(), overload(), serve()];
    await clock.run();
    expect(await Promise.all(second)).toEqual(['asked', 'asked', 'asked']);
    expect(startedAt).toEqual([300_000, 600_000, 900_000, 900_000, 1_200_000]);
  });

  it('spaces the requests of one caller, including the first, but not those of others', async () => {
    const { limiter, clock } = setUp();
    limiter.beginSpacing('origin');
    const origin: SimulatedOrigin = ({ number }) => ({ latencyMs: number === 1 ? 5_000 : 10 });
    const { starts, most } = await crawlSimulated({ limiter, clock }, { pages: 4, origin, spacingMs: 2_000 });
    expect(starts).toEqual([2_000, 4_000, 9_000, 11_000]);
    expect(most).toBe(1);
    const others = await crawlSimulated({ limiter, clock }, { pages: 4, origin });
    expect(new Set(others.starts).size).toBe(1);
  });

  it('does not delay other requests because of a spaced one', async () => {
    const { limiter, clock } = setUp();
    limiter.beginSpacing('origin');
    const spaced = limiter.acquire('origin', signal, 30_000).then(() => clock.nowMs());
    limiter.pause('origin', 5_000);
    const other = limiter.acquire('origin', signal).then(() => clock.nowMs());
    await clock.run();
    expect(await Promise.all([other, spaced])).toEqual([5_000, 30_000]);
  });

  it('drops aborted requests, and releases each place once', async () => {
    const { limiter, clock } = setUp({ initial: 1, max: 1 });
    const release = await limiter.acquire('origin', signal);
    const impatient = new AbortController();
    const given = limiter.acquire('origin', impatient.signal);
    impatient.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    await expect(limiter.acquire('origin', impatient.signal)).rejects.toThrow('enough');
    release({ kind: 'none' });
    release({ kind: 'none' });
    const { most } = await crawlSimulated({ limiter, clock }, { pages: 3, origin: () => ({ latencyMs: 1 }) });
    expect(most).toBe(1);
  });

  it('serves every request within its bounds, whatever the origin does', async () => {
    const reply = fc.record(
      {
        latencyMs: fc.integer({ min: 0, max: 30_000 }),
        outcome: fc.constantFrom('overloaded' as const, 'none' as const),
      },
      { requiredKeys: ['latencyMs'] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(reply, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom(0, 700),
        async (replies, initial, max, spacingMs) => {
          const rig = setUp({ initial, max });
          const { starts, most, limits } = await crawlSimulated(rig, {
            pages: 120,
            spacingMs,
            origin: ({ number }) => replies[number % replies.length] ?? { latencyMs: 1 },
          });
          expect(starts).toHaveLength(120);
          expect(most).toBeLessThanOrEqual(spacingMs > 0 ? 1 : max);
          expect(Math.min(...limits)).toBeGreaterThanOrEqual(1);
          const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
          expect(Math.min(...gaps)).toBeGreaterThanOrEqual(spacingMs);
        },
      ),
      { numRuns: 60 },
    );
  });
});
