import {
  applyEvent,
  beginSchedule,
  type CrawlEvent,
  type Decision,
  decide,
  type Schedule,
} from '../../../exporter/crawl/schedule.ts';
import fc from '../../helpers/fast-check.ts';
import { type SimulatedCrawl, type SimulatedPage, simulateCrawl } from './simulated-crawl.ts';

const MIB = 1024 * 1024;
const LIMITS = { maxConcurrency: 4, extraMs: 1_000, graceMs: 100 };
const END_MS = 1_000;

function scheduleAfter(events: readonly CrawlEvent[], initial: Partial<Schedule> = {}): Schedule {
  return events.reduce(applyEvent, { ...beginSchedule(LIMITS, END_MS), mayHaveMore: false, ...initial });
}

/** Events of visits that start. */
function visiting(count: number): CrawlEvent[] {
  return [{ type: 'reportEnded', count: 0, takenCount: count, urlCount: 0, settledCount: 0 }];
}

function visited(count: number, nowMs: number, bytes = 10): CrawlEvent[] {
  return Array.from({ length: count }, (_, id): CrawlEvent => ({ type: 'visited', id, bytes, nowMs }));
}

const body = (id: number): CrawlEvent => ({ type: 'bodyStarted', id });
const rest = (queuedCount: number, dueInMs: number | null, leased = false): CrawlEvent => ({
  type: 'restRead',
  rest: { queuedCount, leased, dueInMs },
});

const settling = { settlingCount: 1 };
type Case = [name: string, events: CrawlEvent[], initial: Partial<Schedule>, nowMs: number, expected: Decision];

const CASES: Case[] = [
  ['leases as many URLs as it may visit', [], { mayHaveMore: true }, 0, { type: 'lease', limit: 8 }],
  ['leases as many URLs as there are free places', visiting(6), { mayHaveMore: true }, 0, { type: 'lease', limit: 2 }],
  ['leases nothing for a single place', visiting(7), { mayHaveMore: true }, 0, { type: 'wait', waitMs: 60 }],
  [
    'leases nothing while it leases',
    visiting(1),
    { mayHaveMore: true, isLeasing: true },
    0,
    { type: 'wait', waitMs: 60 },
  ],
  ['leases nothing when the time is up', visiting(1), { mayHaveMore: true }, END_MS, { type: 'wait', waitMs: 60 }],
  [
    'leases nothing while too many results wait for a slow store',
    [...visiting(3), ...visited(2, 0, 8 * MIB)],
    { mayHaveMore: true, settlingCount: 3 },
    0,
    { type: 'wait', waitMs: 60 },
  ],
  [
    'settles results when no other visit is running',
    [...visiting(1), ...visited(1, 0)],
    {},
    0,
    { type: 'settle', maxTaken: 8, linksFirst: true },
  ],
  [
    'settles at once when half of the visits are done',
    [...visiting(8), ...visited(4, 0)],
    {},
    0,
    { type: 'settle', maxTaken: 4, linksFirst: false },
  ],
  [
    'reports links first if the origin may accept more',
    [...visiting(6), ...visited(3, 0)],
    {},
    0,
    { type: 'settle', maxTaken: 5, linksFirst: true },
  ],
  [
    'waits briefly with a result if the origin may accept more',
    [...visiting(4), ...visited(1, 0)],
    settling,
    9,
    { type: 'wait', waitMs: 1 },
  ],
  [
    'and then settles it',
    [...visiting(4), ...visited(1, 0)],
    settling,
    10,
    { type: 'settle', maxTaken: 5, linksFirst: true },
  ],
  ['waits longer if not', [...visiting(8), ...visited(1, 0)], settling, 20, { type: 'wait', waitMs: 40 }],
  [
    'and settles it after all',
    [...visiting(8), ...visited(1, 0)],
    settling,
    60,
    { type: 'settle', maxTaken: 1, linksFirst: false },
  ],
  [
    'settles a large result at once',
    [...visiting(8), ...visited(1, 0, 4 * MIB)],
    settling,
    0,
    { type: 'settle', maxTaken: 1, linksFirst: false },
  ],
  [
    'settles three groups at a time',
    [...visiting(8), ...visited(1, 0, 4 * MIB)],
    { settlingCount: 3 },
    500,
    { type: 'wait', waitMs: 60 },
  ],
  [
    'takes no links when the time is up',
    [...visiting(1), ...visited(1, 0)],
    {},
    END_MS,
    { type: 'settle', maxTaken: 0, linksFirst: true },
  ],
  ['polls for more URLs while only bodies arrive', [...visiting(1), body(1)], {}, 0, { type: 'poll', waitMs: 20 }],
  ['leases again after a poll', [...visiting(1), body(1), { type: 'polled' }], {}, 0, { type: 'lease', limit: 7 }],
  ['reads the rest of the frontier when no visit is running', [], {}, 0, { type: 'readRest' }],
  ['ends when nothing is left', [rest(0, null)], {}, 0, { type: 'end', done: true, queuedCount: 0 }],
  ['waits for other workers', [rest(0, null, true)], {}, 0, { type: 'poll', waitMs: 20 }],
  ['waits for a URL that is not due', [rest(1, 5)], {}, 0, { type: 'poll', waitMs: 5 }],
  ['leases what is due', [rest(1, 0)], {}, 0, { type: 'lease', limit: 8 }],
  ['leaves the rest when the time is up', [rest(3, 0)], {}, END_MS, { type: 'end', done: false, queuedCount: 3 }],
  ['waits for responses when the time is up', visiting(2), {}, END_MS + 99, { type: 'wait', waitMs: 60 }],
  ['but not longer than the grace time', visiting(2), {}, END_MS + 100, { type: 'end', done: false, queuedCount: 2 }],
  ['first settles what arrived', visiting(2), { settlingCount: 1 }, END_MS + 100, { type: 'wait', waitMs: 60 }],
  ['waits for bodies that had started', [...visiting(2), body(1)], {}, END_MS + 100, { type: 'wait', waitMs: 60 }],
];

describe('the schedule of a crawl', () => {
  it.each(CASES)('%s', (_, events, initial, nowMs, expected) => {
    expect(decide(scheduleAfter(events, initial), nowMs).decision).toEqual(expected);
  });

  it('is extended for bodies that arrive when the time is up, until the last one is complete', () => {
    const overMs = END_MS + LIMITS.graceMs;
    const extended = decide(scheduleAfter([...visiting(3), body(1), body(2)]), overMs).state;
    expect(extended.endAtMs).toBe(overMs + LIMITS.extraMs);
    const one = applyEvent(applyEvent(extended, body(0)), { type: 'bodyEnded', id: 1, nowMs: 1_200 });
    expect(one.endAtMs).toBe(extended.endAtMs);
    expect(applyEvent(one, { type: 'bodyEnded', id: 2, nowMs: 1_300 }).endAtMs).toBe(1_300);
  });

  it('doubles the time between polls up to a quarter of a second, and starts over when there is work', () => {
    let idle = scheduleAfter([]);
    const waits = Array.from({ length: 6 }, () => {
      idle = applyEvent(idle, { type: 'polled' });
      return idle.pollMs;
    });
    expect(waits).toEqual([40, 80, 160, 250, 250, 250]);
    expect(applyEvent(idle, { type: 'leased', limit: 8, count: 1 }).pollMs).toBe(20);
  });
});

const PAGE: { [Key in Exclude<keyof SimulatedPage, 'links'>]: fc.Arbitrary<number> } = {
  bytes: fc.oneof({ weight: 8, arbitrary: fc.nat(100_000) }, fc.nat(16 * MIB)),
  headMs: fc.nat(200),
  bodyMs: fc.oneof({ weight: 8, arbitrary: fc.nat(50) }, fc.nat(5_000)),
  heldUntilMs: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.nat(2_000)),
  failures: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.nat(3)),
  retryMs: fc.nat(1_000),
};
const CRAWL: { [Key in Exclude<keyof SimulatedCrawl, 'pages'>]: fc.Arbitrary<SimulatedCrawl[Key]> } = {
  limits: fc.record({
    maxConcurrency: fc.integer({ min: 1, max: 20 }),
    maxMs: fc.constant(Number.MAX_SAFE_INTEGER),
    extraMs: fc.nat(500),
    graceMs: fc.nat(500),
  }),
  leaseMs: fc.nat(50),
  settleMs: fc.nat(50),
  writeMs: fc.oneof(fc.nat(20), fc.nat(5_000)),
};

function crawls(
  pageCount: { min: number; max: number },
  page: Partial<typeof PAGE> = {},
  crawl: Partial<typeof CRAWL> = {},
): fc.Arbitrary<SimulatedCrawl> {
  return fc.integer(pageCount).chain((count) => {
    const pages = fc.record({ links: fc.array(fc.nat(count - 1), { maxLength: 12 }), ...PAGE, ...page });
    return fc.record({ pages: fc.array(pages, { minLength: count, maxLength: count }), ...CRAWL, ...crawl });
  });
}

function reachable(pages: readonly SimulatedPage[]): Set<number> {
  const found = new Set([0]);
  for (const id of found) for (const link of pages[id]?.links ?? []) found.add(link);
  return found;
}

describe('any crawl', () => {
  it('visits every reachable URL once, retries only failures, and ends', () => {
    fc.assert(
      fc.property(crawls({ min: 1, max: 120 }), (crawl) => {
        const { end, settled, visits, maxVisiting } = simulateCrawl(crawl);
        expect(end).toEqual({ type: 'end', done: true, queuedCount: 0 });
        expect(settled).toEqual(reachable(crawl.pages));
        expect(visits).toEqual(new Map([...settled].map((id) => [id, 1 + (crawl.pages[id]?.failures ?? 0)])));
        expect(maxVisiting).toBeLessThanOrEqual(2 * crawl.limits.maxConcurrency);
      }),
    );
  });

  it('holds a bounded number of bytes, however slow the store is', () => {
    const [largest, maxConcurrency] = [8 * MIB, 4];
    const limits = fc.record({ maxMs: fc.constant(1e9), extraMs: fc.constant(0), graceMs: fc.constant(0) });
    const slowStore = { limits: limits.map((each) => ({ ...each, maxConcurrency })), writeMs: fc.constant(5_000) };
    const largePages = { bytes: fc.integer({ min: MIB, max: largest }), heldUntilMs: fc.constant(0) };
    fc.assert(
      fc.property(crawls({ min: 250, max: 300 }, largePages, slowStore), (crawl) => {
        // Three groups are being settled and one waits, each with the visits that had started by then.
        const maxBytes = 4 * (16 * MIB + 2 * maxConcurrency * largest);
        expect(simulateCrawl(crawl).maxHeldBytes).toBeLessThanOrEqual(maxBytes);
      }),
      { numRuns: 20 },
    );
  });

  it('requests a page within 10 ms of the first response that links to it if the origin may accept more', () => {
    const [none, noWait] = [fc.constant(0), fc.constant(0)];
    const limits = fc.constant({ maxConcurrency: 40, maxMs: 1e9, extraMs: 0, graceMs: 0 });
    const fastStore = { limits, leaseMs: noWait, settleMs: noWait, writeMs: noWait };
    fc.assert(
      fc.property(
        crawls({ min: 2, max: 39 }, { failures: none, heldUntilMs: none }, fastStore),
        ({ pages, ...crawl }) => {
          const { firstVisitMs } = simulateCrawl({ pages, ...crawl });
          pages.forEach(({ links, headMs, bodyMs }, id) => {
            const endedMs = (firstVisitMs.get(id) ?? Number.POSITIVE_INFINITY) + headMs + bodyMs;
            for (const link of links) expect(firstVisitMs.get(link) ?? 0).toBeLessThanOrEqual(endedMs + 10);
          });
        },
      ),
    );
  });

  it('leases nothing when the time is up, and ends after the started bodies are complete', () => {
    const limits = fc.record({
      maxConcurrency: fc.integer({ min: 1, max: 20 }),
      maxMs: fc.nat(3_000),
      extraMs: fc.constant(0),
      graceMs: fc.nat(500),
    });
    fc.assert(
      fc.property(crawls({ min: 1, max: 120 }, {}, { limits }), (crawl) => {
        const { end, endedAtMs, lastLeaseAtMs, settled } = simulateCrawl(crawl);
        const { maxMs, graceMs } = crawl.limits;
        const slowestMs = Math.max(...crawl.pages.map(({ headMs, bodyMs }) => headMs + bodyMs));
        const storeMs = crawl.leaseMs + crawl.writeMs + 2 * crawl.settleMs;
        expect(lastLeaseAtMs).toBeLessThanOrEqual(maxMs);
        // Results that arrive while the last groups are being settled are settled too.
        expect(endedAtMs).toBeLessThanOrEqual(maxMs + graceMs + slowestMs + 3 * storeMs + 250);
        if (end.done) expect(settled).toEqual(reachable(crawl.pages));
      }),
    );
  });
});
