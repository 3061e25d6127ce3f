import { figuresOf } from '../../contract/site-figures.ts';
import type { ExportRecord } from '../../contract/site-state.ts';
import { exportRecord } from '../api/pages/site-fixture.ts';

const NOW_MS = Date.UTC(2026, 10, 28);
const DAY_MS = 86_400_000;
const at = (ms: number) => new Date(NOW_MS + ms).toISOString();

/** An export that ran so many days ago, and was served so many minutes after its publish. */
const ended = (
  number: number,
  { daysAgo = 1, minutes = 1, ...changes }: { daysAgo?: number; minutes?: number } & Partial<ExportRecord> = {},
) => {
  const startedMs = -daysAgo * DAY_MS;
  const times = { requestedAt: at(startedMs), startedAt: at(startedMs), servedAt: at(startedMs + minutes * 60_000) };
  return exportRecord(number, { ...times, outcome: 'served', ...changes });
};
const failed = { outcome: 'failed', servedAt: null } as const;

describe('the figures of a site', () => {
  it('have the median and the 95th percentile by nearest rank', () => {
    const exports = Array.from({ length: 20 }, (_each, index) => ended(20 - index, { minutes: 20 - index }));
    expect(figuresOf(exports, NOW_MS)).toEqual({
      ...{ since: at(-DAY_MS), exports: 20, failed: 0, medianMs: 600_000, p95Ms: 1_140_000 },
    });
  });

  it('count 30 days, or from the oldest export that is kept', () => {
    const exports = [
      ended(3, { daysAgo: 2, minutes: 2 }),
      ended(2, { daysAgo: 30, minutes: 3 }),
      ended(1, { daysAgo: 31, minutes: 60 }),
    ];
    expect(figuresOf(exports, NOW_MS)).toMatchObject({
      since: at(-30 * DAY_MS),
      exports: 2,
      medianMs: 120_000,
      p95Ms: 180_000,
    });
    expect(figuresOf([ended(9, { daysAgo: 2 })], NOW_MS)).toMatchObject({ since: at(-2 * DAY_MS), exports: 1 });
    expect(figuresOf([ended(1, { daysAgo: 31 })], NOW_MS)).toBeNull();
  });

  it('count the failures of a long row that are not kept, and nothing that is under way', () => {
    const exports = [
      ended(12, { outcome: null, servedAt: null }),
      ended(11),
      ended(10, failed),
      ended(4, { outcome: null, servedAt: null }),
      ended(3, failed),
      ended(2),
    ];
    expect(figuresOf(exports, NOW_MS)).toMatchObject({ exports: 9, failed: 7 });
    expect(figuresOf([ended(1, { outcome: null })], NOW_MS)).toBeNull();
  });

  it('take the write if no deployment says what it serves, and leave out what no publish began', () => {
    const written = ended(3, { servedAt: null, outcome: 'written', writtenAt: at(-DAY_MS + 5_000) });
    const requested = ended(2, { trigger: 'request', minutes: 60 });
    const held = ended(1, { servedAt: null, outcome: 'held' });
    expect(figuresOf([written, requested, held], NOW_MS)).toMatchObject({
      exports: 3,
      failed: 0,
      medianMs: 5_000,
      p95Ms: 5_000,
    });
    expect(figuresOf([requested], NOW_MS)).toMatchObject({ exports: 1, medianMs: null, p95Ms: null });
  });
});
