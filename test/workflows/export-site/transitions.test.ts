import type { PublishedSignal } from '../../../contract/publish-event.ts';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';
import { endBackOff, startBackOff } from '../../../workflows/export-site/back-off.ts';
import { type MutableState, newState } from '../../../workflows/export-site/state.ts';
import { applyDeliveries, dropExports, takePending } from '../../../workflows/export-site/transitions.ts';
import type { Failure } from '../../../workflows/failures/read-failure.ts';
import { event } from './play-publishes.ts';

const NOON_MS = Date.UTC(2026, 10, 21, 12);

type Delivery = { id: string; atMs?: number; dedupeMs?: number };

/** Applies signals in order, each with its deliveries. */
function applySignals(state: MutableState, ...signals: Delivery[][]): MutableState {
  const seen = createSeenDeliveries();
  for (const deliveries of signals) {
    const atMs = NOON_MS + (deliveries.at(-1)?.atMs ?? 0);
    const signal: PublishedSignal = {
      deliveries: deliveries.map(({ id, atMs: receivedMs = 0, dedupeMs = 86_400_000 }) => {
        return { id, source: 's', receivedAt: new Date(NOON_MS + receivedMs).toISOString(), dedupeMs };
      }),
      newest: event(deliveries.at(-1)?.id ?? ''),
    };
    applyDeliveries(state, seen, signal, atMs);
  }
  return state;
}

const outcomesOf = ({ histories }: MutableState): string[] =>
  histories.deliveries.map(({ id, outcome }) => `${id} ${outcome}`).reverse();

describe('a delivery', () => {
  it.each<[string, Delivery[][], string[], number]>([
    ['starts a burst, or joins it', [[{ id: 'a' }], [{ id: 'b' }]], ['a started', 'b coalesced'], 2],
    ['that is resent counts once', [[{ id: 'a' }], [{ id: 'a' }]], ['a started', 'a duplicate'], 1],
    ['that is resent in one signal counts once', [[{ id: 'a' }, { id: 'a' }]], ['a started', 'a duplicate'], 1],
    [
      'counts again after the window of its source',
      [[{ id: 'a', dedupeMs: 1_000 }], [{ id: 'a', atMs: 2_000, dedupeMs: 1_000 }]],
      ['a started', 'a coalesced'],
      2,
    ],
  ])('%s', (_, signals, outcomes, count) => {
    const state = applySignals(newState(NOON_MS), ...signals);
    expect(outcomesOf(state)).toEqual(outcomes);
    expect(state.pending?.count).toBe(count);
  });

  it('does not extend the quiet period if it is resent', () => {
    const { pending } = applySignals(newState(NOON_MS), [{ id: 'a' }], [{ id: 'a', atMs: 60_000 }]);
    expect(pending).toMatchObject({ firstAtMs: NOON_MS, lastAtMs: NOON_MS });
  });

  it('is listed among the newest 200, with its event if it is known', () => {
    const deliveries = Array.from({ length: 300 }, (_, index) => ({ id: `d${index}` }));
    const state = applySignals(newState(NOON_MS), deliveries);
    expect(state.pending?.count).toBe(300);
    const listed = state.histories.deliveries;
    expect(listed).toHaveLength(200);
    expect(listed.slice(0, 2)).toMatchObject([{ id: 'd299', topic: 't', action: 'publish' }, { id: 'd298' }]);
    expect(listed[1]).not.toHaveProperty('topic');
  });
});

describe('a publish after the command of a rollback', () => {
  const rolledBack = (...ids: string[]) => {
    const state = applySignals(newState(NOON_MS), [{ id: 'a' }]);
    const after = state.accepted;
    takePending(state, 'docs.example.com', NOON_MS);
    applySignals(state, ...ids.map((id) => [{ id }]));
    dropExports(state, after);
    return state;
  };

  it('is exported, although the rollback waited for its link', () => {
    expect(rolledBack('b', 'c')).toMatchObject({ accepted: 3, settled: 1, exporting: null, pending: { count: 2 } });
  });

  it('is the only one: everything before it is dropped', () => {
    expect(rolledBack()).toMatchObject({ settled: 1, exporting: null, pending: null });
  });
});

describe('the back-off of a failed export', () => {
  const failed = (type: Failure['type'], retryAfterMs: number | null = null): MutableState => {
    const state = newState(NOON_MS);
    startBackOff(state, { type, message: 'm', status: null, retryAfterMs }, NOON_MS, retryAfterMs ?? 0);
    return state;
  };

  it.each<[Failure['type'], number | null, number]>([
    ['JobFailed', null, 30_000],
    ['Rejected', null, 30_000],
    ['JobGone', null, 30_000],
    ['TimedOut', null, 30_000],
    ['Unavailable', null, 5_000],
    ['RateLimited', 3_000_000, 3_000_000],
    ['RateLimited', 1_000, 5_000],
    ['KeyRefused', null, 300_000],
  ])('by %s with Retry-After %s lasts %i ms', (type, retryAfterMs, waitMs) => {
    expect(failed(type, retryAfterMs).backOff).toMatchObject({ untilMs: NOON_MS + waitMs, failures: 1, waiting: true });
  });

  it.each([
    ['at once', null, 0],
    ['at the end of a Retry-After', 3_000_000, 3_000_000],
  ])('ends with a new publish, %s', (_, retryAfterMs, waitMs) => {
    const { backOff } = applySignals(failed('RateLimited', retryAfterMs), [{ id: 'a' }]);
    expect(backOff).toMatchObject({ untilMs: NOON_MS + waitMs, waiting: false });
  });

  it('grows with the next failure, even if it ended early', () => {
    const state = newState(NOON_MS);
    startBackOff(state, { type: 'JobFailed', message: 'm', status: null, retryAfterMs: null }, NOON_MS, 0);
    endBackOff(state);
    startBackOff(state, { type: 'JobFailed', message: 'm', status: null, retryAfterMs: null }, NOON_MS, 0);
    expect(state.backOff).toMatchObject({ untilMs: NOON_MS + 60_000, failures: 2, waiting: true });
  });
});
