import type { StartRequest } from '../../../contract/start-gate.ts';
import { addRequest, HOUR_MS, newGate, nextStartMs, takeStart } from '../../../workflows/start-gate/queue.ts';

const DAY_MS = 24 * HOUR_MS;

/** A seeded random generator of numbers from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A start: whose, when, and how long its oldest publish waited. `publishes`: how many it covers. */
export type SimulatedStart = { site: string; atMs: number; waitMs: number; publishes: number };

/**
 * Sites that publish at random times, each with its own rate of 1 to 20 times a day, on one limit of starts. The clock jumps
 * from publish to start. `refusedAt` are times at which the service would have refused.
 */
export function simulateWeek({
  sites,
  startsPerHour,
  seed,
  days = 7,
}: {
  sites: number;
  startsPerHour: number;
  seed: number;
  days?: number;
}) {
  const random = randomOf(seed);
  const publishes = Array.from({ length: sites }, (_, index) => {
    const perDay = 1 + Math.floor(random() * 20);
    return Array.from({ length: perDay * days }, () => ({
      site: `site-${index}`,
      atMs: Math.floor(random() * days * DAY_MS),
    }));
  }).flat();
  publishes.sort((a, b) => a.atMs - b.atMs);
  const gate = newGate();
  const waiting = new Map<string, { oldestAtMs: number; count: number }>();
  const starts: SimulatedStart[] = [];
  const queueLengths: { atMs: number; length: number }[] = [];
  let nowMs = 0;
  let next = 0;
  while (next < publishes.length || gate.waiting.length > 0) {
    const publishMs = publishes[next]?.atMs ?? Number.POSITIVE_INFINITY;
    const startMs = gate.waiting.length === 0 ? Number.POSITIVE_INFINITY : nextStartMs(gate, nowMs);
    nowMs = Math.min(publishMs, startMs);
    if (publishMs <= startMs) {
      const { site = '' } = publishes[next++] ?? {};
      const own = waiting.get(site);
      if (own === undefined) {
        const request: StartRequest = { site, oldestAtMs: nowMs, byPerson: false, startsPerHour };
        waiting.set(site, { oldestAtMs: nowMs, count: 1 });
        addRequest(gate, request);
      } else own.count++;
    }
    for (let given = takeStart(gate, nowMs); given !== undefined; given = takeStart(gate, nowMs)) {
      const { oldestAtMs, count } = waiting.get(given.site) ?? { oldestAtMs: nowMs, count: 0 };
      waiting.delete(given.site);
      starts.push({ site: given.site, atMs: nowMs, waitMs: nowMs - oldestAtMs, publishes: count });
    }
    queueLengths.push({ atMs: nowMs, length: gate.waiting.length });
  }
  return { starts, queueLengths, publishCount: publishes.length };
}
