import type { PublishEvent } from '../../contract/publish-event.ts';
import { createWaitingBodies } from '../deliveries/waiting-bodies.ts';

/** What waits to be exported. Times are the workflow's own, in milliseconds. */
export type Pending = {
  /** Publishes not yet exported; 0 where only a person or a lost bundle asked. */
  count: number;
  /** The oldest publish not yet exported, failed and replaced exports included: what `maxWait` protects from starving. */
  oldestAtMs: number;
  /** When the present burst began and when its newest publish came. */
  firstAtMs: number;
  lastAtMs: number;
  /** The newest publish, for people; null where none came. */
  newest: PublishEvent | null;
  /** Hashes of the bodies that wait, of deliveries without a vendor's id (waiting-bodies.ts). */
  bodies: string[];
  /** Due at once: asked for by a person, or a failed export to be repeated. */
  immediate: boolean;
};

export type DebounceSettings = { quietPeriodMs: number; maxWaitMs: number };

/**
 * Adds publishes that came together. A new burst begins where what waited was only due for repetition. The moments
 * count, whatever their order: only the newest event is the one added last.
 */
export function addPublishes(
  pending: Pending | null,
  publishes: { count: number; newest: PublishEvent; bodies?: string[] },
  nowMs: number,
): Pending {
  return {
    count: (pending?.count ?? 0) + publishes.count,
    oldestAtMs: Math.min(pending?.oldestAtMs ?? nowMs, nowMs),
    firstAtMs: pending === null || pending.immediate ? nowMs : Math.min(pending.firstAtMs, nowMs),
    lastAtMs: pending === null || pending.immediate ? nowMs : Math.max(pending.lastAtMs, nowMs),
    newest: publishes.newest,
    bodies: publishes.bodies ?? pending?.bodies ?? [],
    immediate: false,
  };
}

/** Makes what waits due at once, or makes something wait that is. */
export function addRequest(pending: Pending | null, nowMs: number): Pending {
  const asked = { count: 0, oldestAtMs: nowMs, firstAtMs: nowMs, lastAtMs: nowMs, newest: null, bodies: [] };
  return { ...(pending ?? asked), immediate: true };
}

/** Puts an unfinished export's publishes back before those that came since. */
export function putBack(unfinished: Pending, since: Pending | null): Pending {
  if (since === null) return unfinished;
  return {
    count: unfinished.count + since.count,
    oldestAtMs: Math.min(unfinished.oldestAtMs, since.oldestAtMs),
    firstAtMs: unfinished.immediate ? since.firstAtMs : Math.min(unfinished.firstAtMs, since.firstAtMs),
    lastAtMs: Math.max(unfinished.lastAtMs, since.lastAtMs),
    newest: since.newest ?? unfinished.newest,
    bodies: createWaitingBodies([...unfinished.bodies, ...since.bodies]).hashes(),
    immediate: since.immediate,
  };
}

/** When the export starts: after a quiet period, but never later than `maxWait` after the burst's first publish. */
export function exportDueAtMs(pending: Pending, { quietPeriodMs, maxWaitMs }: DebounceSettings): number {
  if (pending.immediate) return pending.firstAtMs;
  return Math.min(pending.lastAtMs + quietPeriodMs, pending.firstAtMs + maxWaitMs);
}

/**
 * Whether a newer publish replaces the running export (`whenBusy: cancel`): only while the oldest publish not yet
 * exported is younger than `maxWait`, so that publishing without end still gets an export through.
 */
export function shouldReplace(
  running: Pick<Pending, 'oldestAtMs'>,
  since: Pending | null,
  settings: { whenBusy: 'queue' | 'cancel'; maxWaitMs: number },
  nowMs: number,
): boolean {
  return settings.whenBusy === 'cancel' && since !== null && nowMs - running.oldestAtMs < settings.maxWaitMs;
}
