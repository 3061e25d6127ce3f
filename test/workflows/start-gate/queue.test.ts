import {
  addRequest,
  endStart,
  type GateState,
  HOUR_MS,
  newGate,
  nextStartMs,
  placesOf,
  takeStart,
} from '../../../workflows/start-gate/queue.ts';
import { simulateWeek } from './simulate-week.ts';

const T0 = Date.parse('2026-11-27T12:00:00Z');
const MINUTE_MS = 60_000;

function gateWith(
  limit: number | null,
  ...waiting: [site: string, oldestAtMs: number, byPerson?: boolean][]
): GateState {
  const gate = newGate();
  for (const [site, oldestAtMs, byPerson = false] of waiting)
    addRequest(gate, { site, oldestAtMs, byPerson, startsPerHour: limit });
  return gate;
}

const takeAll = (gate: GateState, nowMs: number): string[] => {
  const taken: string[] = [];
  for (let next = takeStart(gate, nowMs); next !== undefined; next = takeStart(gate, nowMs)) taken.push(next.site);
  return taken;
};

describe('the gate of starts', () => {
  it("gives the next start to the site that waits longest, and a person's export goes first", () => {
    const gate = gateWith(10, ['b', T0 - 1], ['a', T0 - 5], ['c', T0, true]);
    expect(takeAll(gate, T0)).toEqual(['c', 'a', 'b']);
  });

  it('uses a free start at once, and the next one an hour after the one that it replaces', () => {
    const gate = gateWith(2, ['a', T0], ['b', T0], ['c', T0], ['d', T0]);
    expect(takeAll(gate, T0)).toEqual(['a', 'b']);
    expect(nextStartMs(gate, T0 + 1)).toBe(T0 + HOUR_MS);
    expect(takeAll(gate, T0 + HOUR_MS - 1)).toEqual([]);
    expect(takeAll(gate, T0 + HOUR_MS)).toEqual(['c', 'd']);
  });

  it('has one request per site, whose place it says with the time', () => {
    const gate = gateWith(2, ['a', T0 - 3], ['b', T0 - 2], ['c', T0 - 1], ['d', T0], ['e', T0 + 1]);
    expect(takeAll(gate, T0)).toEqual(['a', 'b']);
    addRequest(gate, { site: 'c', oldestAtMs: T0 - 1, byPerson: false, startsPerHour: 2 });
    expect(placesOf(gate, T0 + 20 * MINUTE_MS)).toEqual({
      c: { number: 1, of: 3, aboutAt: '2026-11-27T13:00:00.000Z' },
      d: { number: 2, of: 3, aboutAt: '2026-11-27T13:00:00.000Z' },
      e: { number: 3, of: 3, aboutAt: '2026-11-27T14:00:00.000Z' },
    });
  });

  it('counts a start whose response was lost', () => {
    const gate = gateWith(2, ['a', T0], ['b', T0]);
    expect(takeStart(gate, T0)?.site).toBe('a');
    endStart(gate, { site: 'a', outcome: 'lost' }, T0);
    expect(takeAll(gate, T0)).toEqual([]);
  });

  it('waits after a refusal at most ten minutes, and does not count the refused start', () => {
    const gate = gateWith(10, ['a', T0], ['b', T0]);
    expect(takeStart(gate, T0)?.site).toBe('a');
    endStart(gate, { site: 'a', outcome: 'limited' }, T0);
    expect(gate.starts).toEqual([]);
    expect(nextStartMs(gate, T0)).toBe(T0 + 10 * MINUTE_MS);
  });

  it('hands starts out one at a time if the limit is not known', () => {
    const gate = gateWith(null, ['a', T0], ['b', T0]);
    expect(takeAll(gate, T0)).toEqual(['a']);
    expect(placesOf(gate, T0)).toEqual({ b: { number: 1, of: 1, aboutAt: null } });
    endStart(gate, { site: 'a', outcome: 'started' }, T0 + 1_000);
    expect(takeAll(gate, T0 + 1_000)).toEqual(['b']);
    // A site that never answers holds nobody up for long.
    addRequest(gate, { site: 'c', oldestAtMs: T0, byPerson: false, startsPerHour: null });
    expect(nextStartMs(gate, T0 + 2_000)).toBe(T0 + 1_000 + 5 * MINUTE_MS);
  });

  it('forgets a site that needs no start', () => {
    const gate = gateWith(1, ['a', T0], ['b', T0]);
    endStart(gate, { site: 'a', outcome: 'withdrawn' }, T0);
    expect(takeAll(gate, T0)).toEqual(['b']);
  });
});

describe('a week of publishes', () => {
  const mostInAnHour = (times: number[]): number =>
    Math.max(...times.map((from) => times.filter((atMs) => atMs >= from && atMs < from + HOUR_MS).length));

  it.each([1, 2, 3])(
    'of 50 sites on 10 starts an hour: none waits over 5 hours, each start is needed (seed %i)',
    (seed) => {
      const { starts, publishCount } = simulateWeek({ sites: 50, startsPerHour: 10, seed });
      expect(mostInAnHour(starts.map(({ atMs }) => atMs))).toBeLessThanOrEqual(10);
      expect(Math.max(...starts.map(({ waitMs }) => waitMs))).toBeLessThanOrEqual(5 * HOUR_MS);
      // Each publish is covered by exactly one start, and each start covers at least one that no other did.
      expect(starts.reduce((sum, { publishes }) => sum + publishes, 0)).toBe(publishCount);
      expect(Math.min(...starts.map(({ publishes }) => publishes))).toBe(1);
    },
  );

  it('of 200 sites starves none', () => {
    const { starts } = simulateWeek({ sites: 200, startsPerHour: 10, seed: 4 });
    expect(new Set(starts.map(({ site }) => site)).size).toBe(200);
    expect(Math.max(...starts.map(({ waitMs }) => waitMs))).toBeLessThanOrEqual(20 * HOUR_MS);
  });
});
