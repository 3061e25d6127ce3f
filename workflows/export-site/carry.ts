import { createSeenDeliveries, type SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { type CarriedMemory, type SiteMemory, siteMemory } from './site-memory.ts';

/** Temporal ends a workflow whose input passes 2 MB; a quarter of that is never passed here. */
export const MAX_CARRY_BYTES = 512_000;

/** Makes the next run's input. Where it would be too large, the oldest seen deliveries are left behind. */
export function toCarry(memory: SiteMemory, seen: SeenDeliveries): CarriedMemory {
  const whole = siteMemory.parse({ ...memory, seen: seen.toBuckets() });
  for (let limit = 10_000; byteLength(whole) > MAX_CARRY_BYTES && limit > 0; limit = Math.floor(limit / 2)) {
    whole.seen = seen.toBuckets(limit);
  }
  if (byteLength(whole) <= MAX_CARRY_BYTES) return whole;
  return { ...whole, seen: [], deliveries: [], jobs: [] };
}

/**
 * Reads what the last run handed over. An unreadable carry throws, which fails the workflow task: the site waits for
 * code that can read it rather than losing what it knows.
 */
export function fromCarry(carry: unknown): { memory: SiteMemory; seen: SeenDeliveries } {
  const { seen, ...memory } = siteMemory.parse(carry);
  return { memory, seen: createSeenDeliveries(seen) };
}

function byteLength(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).byteLength;
}
