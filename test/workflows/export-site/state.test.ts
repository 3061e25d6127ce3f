import { HISTORY_LIMITS } from '../../../contract/site-state.ts';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';
import { MAX_INPUT_BYTES } from '../../../workflows/entity/continue-as-new.ts';
import {
  actionBegan,
  actionFailed,
  deliveryArrived,
  exportBegan,
  exportContinued,
  exportEnded,
  exportHindered,
  noHistories,
  refreshEnded,
} from '../../../workflows/export-site/histories.ts';
import { addRequest } from '../../../workflows/export-site/schedule.ts';
import { type MutableState, newState, restoreState, serializeState } from '../../../workflows/export-site/state.ts';
import { applyDeliveries } from '../../../workflows/export-site/transitions.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);

function size(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function ordinaryHistories(histories: MutableState['histories']): void {
  const newest = {
    source: 'contentful',
    topic: 'ContentManagement.Entry.publish',
    action: 'publish',
    id: '5KsDBWseXY6QegucYAoacS',
    title: 'How to move a workspace to another region',
    url: '',
    author: 'ada@example.com',
    at: '',
  } as const;
  for (let index = 0; index < 200; index++) {
    const receivedAt = new Date(NOW_MS + index).toISOString();
    const ref = { id: '7d9f3c52-8f2b-4f6e-9b55-0c5f3e0a8a11', source: 'contentful', receivedAt, dedupeMs: 1 };
    exportBegan(histories, { ...addRequest(null, NOW_MS), count: 1, newest }, NOW_MS);
    deliveryArrived(histories, ref, 'started', newest);
    exportContinued(histories, { jobId: 'se_0123456789abcdef', version: '2026-11-21.3', exportedAt: receivedAt });
    exportEnded(histories, 'deployed', { waiting: false });
    refreshEnded(histories, { version: '2026-11-21.3', expiresAt: receivedAt, error: null });
    actionBegan(histories, { action: 'rollback', actor: 'operator token: ada', detail: '2026-11-21.3' });
  }
}

/** Fills every history with the longest texts, of characters that take six bytes each in JSON. */
function fillHistories(histories: MutableState['histories']): void {
  const longest = '\u0001'.repeat(10_000);
  const ref = { id: longest, source: longest, receivedAt: longest, dedupeMs: 1 };
  const newest = {
    source: '',
    topic: longest,
    action: 'publish',
    id: '',
    title: longest,
    url: '',
    author: longest,
    at: '',
  } as const;
  for (let index = 0; index < 201; index++) {
    deliveryArrived(histories, { ...ref, id: `${index} ${longest}` }, 'coalesced', newest);
    const action = actionBegan(histories, { action: 'rollback', actor: longest.slice(0, 200), detail: longest });
    actionFailed(action, longest);
    const version = longest.slice(0, 200);
    refreshEnded(histories, { version, expiresAt: longest.slice(0, 500), error: `${index} ${longest}` });
    exportBegan(histories, { ...addRequest(null, NOW_MS), count: 1, newest }, NOW_MS);
    exportContinued(histories, { jobId: longest.slice(0, 500), version });
    exportHindered(histories, longest);
    exportEnded(histories, index % 2 === 0 ? 'failed' : 'deployed', { waiting: false });
  }
}

/** The largest possible state of a site: the longest texts and the maximum number of everything. */
function fullState(): { state: MutableState; seen: ReturnType<typeof createSeenDeliveries> } {
  const state = newState(NOW_MS);
  const seen = createSeenDeliveries();
  const long = 'ß€'.repeat(5_000);
  for (let round = 0; round < 25; round++) {
    const deliveries = Array.from({ length: 1_000 }, (_, index) => {
      return {
        id: `${round}-${index}-${'ß€'.repeat(100)}`,
        source: 'contentful',
        receivedAt: new Date(NOW_MS).toISOString(),
        dedupeMs: 1,
      };
    });
    const newest = {
      source: long,
      topic: long,
      action: 'publish',
      id: long,
      title: long,
      url: long,
      author: long,
      at: long,
    } as const;
    applyDeliveries(state, seen, { deliveries, newest }, NOW_MS);
  }
  fillHistories(state.histories);
  const jobId = 'j'.repeat(500);
  state.jobs = Array.from({ length: 50 }, (_, index) => ({
    jobId,
    version: `${'v'.repeat(190)}${index}`,
    exportedAt: new Date(NOW_MS).toISOString(),
  }));
  state.links = Array.from({ length: 100 }, () => ({
    jobId,
    expiresAt: null,
    obtainedAtMs: NOW_MS,
    lifetimeMs: 1,
    failures: 0,
    notBeforeMs: 0,
  }));
  state.targets = Array.from({ length: 40 }, (_, index) => ({
    kind: 'valuesFile',
    host: null,
    writing: false,
    valuesFile: `/srv/${'f'.repeat(200)}/${index}.yaml`,
    jobId,
    version: 'v1',
    updatedAt: null,
    pin: null,
    held: false,
    off: false,
    searchedPin: null,
    searchAgainAtMs: null,
    confirmation: null,
    error: 'e'.repeat(500),
    failedAt: null,
    failures: 1,
    retryAtMs: NOW_MS,
  }));
  return { state, seen };
}

describe('the continue-as-new input of a site', () => {
  it('is restored unchanged', () => {
    const state = { ...newState(NOW_MS), paused: true, cycle: 7, sequence: 12 };
    const seen = createSeenDeliveries();
    seen.isResend({ id: 'a', source: 's', dedupeMs: 60_000 }, NOW_MS);
    const input: unknown = JSON.parse(JSON.stringify(serializeState(state, seen)));
    const restored = restoreState(input);
    expect(restored.state).toEqual(state);
    expect(restored.seen.isResend({ id: 'a', source: 's', dedupeMs: 60_000 }, NOW_MS + 5_000)).toBe(true);
  });

  const { state, seen } = fullState();

  it('is small even with the largest state', () => {
    const input = serializeState(state, seen);
    expect(size(input)).toBeLessThan(MAX_INPUT_BYTES);
    expect(input.seen.reduce((sum, { entries }) => sum + entries.length / 13, 0)).toBe(20_000);
    expect(input.pending?.count).toBe(25_000);
  });

  it('keeps the newest records of each history if all have the maximum size, and continues the export numbers', () => {
    const input = serializeState(state, createSeenDeliveries());
    const { histories = noHistories() } = input;
    expect(size(histories)).toBeLessThan(160_000);
    expect(histories.deliveries[0]).toEqual(state.histories.deliveries[0]);
    for (const records of Object.values(histories)) expect(records.length).toBeGreaterThan(0);
    const { state: restored } = restoreState(JSON.parse(JSON.stringify(input)));
    exportBegan(restored.histories, addRequest(null, NOW_MS), NOW_MS);
    expect(restored.histories.exports[0]?.number).toBe(202);
  });

  it('keeps full histories of ordinary texts', () => {
    const ordinary = newState(NOW_MS);
    ordinaryHistories(ordinary.histories);
    const { histories } = serializeState(ordinary, seen);
    expect(histories).toEqual(ordinary.histories);
    const { deliveries, exports, refreshes, actions } = ordinary.histories;
    const lengths = { deliveries: deliveries.length, exports: exports.length };
    expect({ ...lengths, refreshes: refreshes.length, actions: actions.length }).toEqual(HISTORY_LIMITS);
  });

  it('drops the oldest deliveries if it would be too large', () => {
    const [target] = state.targets;
    const targets = target ? Array.from({ length: 250 }, () => target) : [];
    const input = serializeState({ ...state, targets }, seen);
    expect(size(input)).toBeLessThan(MAX_INPUT_BYTES);
    expect(input.targets).toHaveLength(250);
    expect(input.seen.length).toBeGreaterThan(0);
  });

  it.each([
    ['with an unknown format', { ...serializeState(newState(NOW_MS), createSeenDeliveries()), format: 2 }],
    ['with missing fields', { format: 1 }],
    ['that is not an object', 'hello'],
    [
      'with a truncated id',
      { ...serializeState(newState(NOW_MS), createSeenDeliveries()), seen: [{ hour: 1, entries: 'abc' }] },
    ],
  ])('is rejected %s, so that no site starts over by mistake', (_, input) => {
    expect(() => restoreState(input)).toThrow();
  });
});
