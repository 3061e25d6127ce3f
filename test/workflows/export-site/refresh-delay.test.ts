import { jitterOf, refreshDelayMs } from '../../../workflows/export-site/schedule.ts';
import fc from '../../helpers/fast-check.ts';

const DAY_MS = 86_400_000;
const times = { lifetimeMs: DAY_MS, marginShare: 0.2, lastTookMs: 0, minIntervalMs: 30_000, site: 'docs' };

describe('the delay of a refresh', () => {
  it("leaves the margin before the link's expiry, plus or minus a tenth of it depending on the site", () => {
    fc.assert(
      fc.property(fc.string(), (site) => {
        const marginMs = DAY_MS - refreshDelayMs({ ...times, site });
        expect(marginMs).toBeGreaterThanOrEqual(0.2 * DAY_MS * 0.9);
        expect(marginMs).toBeLessThanOrEqual(0.2 * DAY_MS * 1.1 + 1);
      }),
    );
  });

  it('leaves at least as long as the last refresh took', () => {
    expect(refreshDelayMs({ ...times, lifetimeMs: 60_000, lastTookMs: 29_000 })).toBe(31_000);
  });

  it('ends before every link that lives long enough, and is never below the minimum interval', () => {
    const anything = fc.record({
      lifetimeMs: fc.integer({ min: -DAY_MS, max: 400 * DAY_MS }),
      marginShare: fc.double({ min: 0.01, max: 0.9, noNaN: true }),
      lastTookMs: fc.nat(DAY_MS),
      minIntervalMs: fc.nat(60_000),
      site: fc.string(),
    });
    fc.assert(
      fc.property(anything, (input) => {
        const delayMs = refreshDelayMs(input);
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(input.minIntervalMs);
        if (input.lifetimeMs > input.minIntervalMs) expect(delayMs).toBeLessThanOrEqual(input.lifetimeMs);
      }),
    );
  });

  it('is spread evenly over sites and always the same for one', () => {
    const jitters = Array.from({ length: 10_000 }, (_, index) => jitterOf(`site-${index}`));
    const mean = jitters.reduce((sum, jitter) => sum + jitter, 0) / jitters.length;
    expect(Math.abs(mean)).toBeLessThan(0.05);
    expect(Math.min(...jitters)).toBeLessThan(-0.95);
    expect(Math.max(...jitters)).toBeGreaterThan(0.95);
    expect(jitterOf('site-1')).toBe(jitters[1]);
  });
});
