import type { PublishEvent } from '../../../contract/publish-event.ts';
import {
  addPublishes,
  type DebounceSettings,
  exportDueAtMs,
  putBack,
  shouldReplace,
} from '../../../workflows/export-site/schedule.ts';
import type { Pending } from '../../../workflows/export-site/state.ts';

export function event(id: string): PublishEvent {
  return { source: 's', topic: 't', action: 'publish', id, title: id, url: '', author: '', at: '' };
}

export type Played = {
  /** The exports that ended, in order. */
  finished: { publishes: Pending; endedAtMs: number }[];
  replaced: number;
  /** The time of the last publish. */
  lastAtMs: number;
};

/**
 * Simulates the workflow's use of the pure functions, with a clock that jumps from event to event: a publish after each of
 * `waitsMs`, and exports of a fixed duration.
 */
export function play(
  waitsMs: readonly number[],
  exportTakesMs: number,
  settings: DebounceSettings & { whenBusy: 'queue' | 'cancel' },
): Played {
  const state: { pending: Pending | null; running: { publishes: Pending; endsAtMs: number } | null } = {
    pending: null,
    running: null,
  };
  const played: Played = { finished: [], replaced: 0, lastAtMs: 0 };
  let nowMs = 0;

  /** Starts and ends the exports that are due until then. */
  function runUntil(untilMs: number): void {
    for (;;) {
      const { pending, running } = state;
      if (pending === null && running === null) return;
      const dueAtMs = running?.endsAtMs ?? (pending ? Math.max(exportDueAtMs(pending, settings), nowMs) : 0);
      if (dueAtMs > untilMs) return;
      nowMs = dueAtMs;
      if (running) {
        played.finished.push({ publishes: running.publishes, endedAtMs: nowMs });
        state.running = null;
      } else if (pending) {
        state.running = { publishes: pending, endsAtMs: nowMs + exportTakesMs };
        state.pending = null;
      }
    }
  }

  for (const waitMs of waitsMs) {
    played.lastAtMs += waitMs;
    runUntil(played.lastAtMs);
    nowMs = played.lastAtMs;
    const pending = addPublishes(state.pending, { count: 1, newest: event(`at ${nowMs}`) }, nowMs);
    state.pending = pending;
    if (state.running && shouldReplace(state.running.publishes, pending, settings, nowMs)) {
      state.pending = putBack(state.running.publishes, pending);
      state.running = null;
      played.replaced++;
    }
  }
  runUntil(Number.POSITIVE_INFINITY);
  return played;
}
