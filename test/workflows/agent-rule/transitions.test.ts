import type { PublishEvent, PublishedSignal } from '../../../contract/publish-event.ts';
import { dueOf } from '../../../workflows/agent-rule/schedule.ts';
import { type MutableState, newState, restoreState, serializeState } from '../../../workflows/agent-rule/state.ts';
import {
  applyDeliveries,
  applyOwnMerge,
  dropWaiting,
  recordChangeEnd,
  runAgain,
  unsubscribe,
  whyNotAgain,
  withoutFirst,
} from '../../../workflows/agent-rule/transitions.ts';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';
import { MAX_INPUT_BYTES } from '../../../workflows/entity/continue-as-new.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const receivedAt = new Date(NOW_MS).toISOString();

function event(id: string, fields: Partial<PublishEvent> = {}): PublishEvent {
  const base = {
    source: 's',
    topic: 't',
    action: 'publish',
    title: `Title ${id}`,
    url: '',
    author: '',
    at: receivedAt,
  } as const;
  return { ...base, id, ...fields };
}

function signal(events: readonly PublishEvent[], prefix = 'd'): PublishedSignal {
  const deliveries = events.map(({ id }) => ({ id: `${prefix}-${id}`, source: 's', receivedAt, dedupeMs: 86_400_000 }));
  return { deliveries, newest: events.at(-1) ?? event('none'), events: [...events] };
}

function stateAfter(...signals: PublishedSignal[]): MutableState {
  const state = newState();
  const seen = createSeenDeliveries();
  for (const each of signals) applyDeliveries(state, seen, each, NOW_MS);
  return state;
}

const ids = (state: MutableState): string[] => state.waiting?.events.map(({ event: { id } }) => id) ?? [];

describe('a rule that runs again', () => {
  it('prompts at once with the newest event, in a change with a new id', () => {
    const state = stateAfter(signal([event('a'), event('b')]));
    expect(whyNotAgain(state)).toBe('2 event(s) wait to be prompted already');
    dropWaiting(state);
    expect(whyNotAgain(state)).toBeNull();
    const { state: restored } = restoreState(JSON.parse(JSON.stringify(serializeState(state, createSeenDeliveries()))));
    const keys = [NOW_MS, NOW_MS + 1].map((nowMs) => {
      runAgain(restored, nowMs);
      return restored.waiting?.changeKeys;
    });
    expect(keys).toEqual([['d-b~2026-11-21T12:00:00.000Z'], ['d-b~2026-11-21T12:00:00.001Z']]);
    expect(ids(restored)).toEqual(['b']);
    expect(restored.waiting).toMatchObject({ count: 1, immediate: true });
    const settings = { quietPeriodMs: 30_000, maxPerHour: 2 };
    if (restored.waiting === null) throw new Error('No event waits');
    expect(dueOf(restored.waiting, [], settings).atMs).toBe(NOW_MS + 1);
    expect(dueOf(restored.waiting, [NOW_MS - 2, NOW_MS - 1], settings)).toEqual({
      atMs: NOW_MS - 2 + 3_600_000,
      limited: true,
    });
  });

  it('has no event if it never collected one', () => {
    expect(whyNotAgain(newState())).toContain('the rule knows no event');
  });
});

describe('the events that a rule collects', () => {
  it('are listed once, in the order of arrival', () => {
    const state = stateAfter(signal([event('a'), event('b')]), signal([event('b'), event('c')]));
    expect(ids(state)).toEqual(['a', 'b', 'c']);
    expect(state.waiting).toMatchObject({ count: 3, changeKeys: ['d-a'] });
  });

  it('are the newest event and a count if a signal has no other events', () => {
    const { events: _others, ...newestOnly } = signal([event('a'), event('b'), event('c')]);
    const state = stateAfter(newestOnly);
    expect(ids(state)).toEqual(['c']);
    expect(state.waiting).toMatchObject({ count: 3, changeKeys: ['d-c'] });
    expect(stateAfter({ ...newestOnly, newest: event('c', { agentsOwn: true }) }).waiting).toBeNull();
  });

  it('use the second delivery for the change id if the first one is removed', () => {
    const { waiting } = stateAfter(signal([event('a'), event('b')]));
    if (waiting === null) throw new Error('No event waits');
    const second = withoutFirst(waiting);
    expect(second).toMatchObject({ count: 1, changeKeys: ['d-b'], events: [{ event: { id: 'b' } }] });
    expect(second && withoutFirst(second)).toBeNull();
    const truncated = { ...waiting, count: 9, changeKeys: ['d-gone'] };
    expect(withoutFirst(truncated)).toMatchObject({ count: 8, changeKeys: ['d-a'], events: waiting.events });
  });

  it("exclude only the agent's own work", () => {
    const own = { agentsOwn: true } as const;
    const state = stateAfter(signal([event('a', own), event('b'), event('c', own)]));
    expect(ids(state)).toEqual(['b']);
    expect(state.waiting?.changeKeys).toEqual(['d-b']);
  });

  it("lose a waiting push that turns out to be an agent's merge, and use the next delivery for the change id", () => {
    const state = stateAfter(signal([event('sha'), event('b')]));
    applyOwnMerge(state, 'sha');
    expect(ids(state)).toEqual(['b']);
    expect(state.waiting).toMatchObject({ count: 1, changeKeys: ['d-b'] });
    applyOwnMerge(state, 'b');
    expect(state.waiting).toBeNull();
  });

  it('exclude the newest hundred merges of agents', () => {
    const state = newState();
    for (let index = 0; index < 150; index++) applyOwnMerge(state, `sha-${index}`);
    expect(state.ownMerges).toHaveLength(100);
    applyDeliveries(state, createSeenDeliveries(), signal([event('sha-10'), event('sha-149')]), NOW_MS);
    expect(ids(state)).toEqual(['sha-10']);
  });
});

describe('the continue-as-new input of a rule', () => {
  it('contains each unsubscribed address once, in lower case', () => {
    const state = newState();
    for (const address of ['Ada@Example.com', 'bob@example.com', ' ada@example.com ', '']) {
      unsubscribe(state, address);
    }
    expect(state.unsubscribed).toEqual(['bob@example.com', 'ada@example.com']);
  });

  it('contains the newest two hundred events and the count of all', () => {
    const events = Array.from({ length: 1_000 }, (_, index) => event(`${index}`));
    const state = stateAfter(signal(events));
    expect(ids(state)).toHaveLength(200);
    expect(ids(state).at(-1)).toBe('999');
    expect(state.waiting).toMatchObject({ count: 1_000, changeKeys: ['d-0'] });
  });

  it('is small for any amount of collected events', () => {
    const long = '€'.repeat(5_000);
    const fields = { source: long, topic: long, title: long, url: long, author: long, at: long } as const;
    const state = newState();
    const seen = createSeenDeliveries();
    for (let round = 0; round < 25; round++) {
      const events = Array.from({ length: 1_000 }, (_, index) => event(`${index}`, index % 50 === 0 ? fields : {}));
      applyDeliveries(state, seen, signal(events, `${round}`), NOW_MS);
    }
    for (let index = 0; index < 1_200; index++) unsubscribe(state, `${index}${'a'.repeat(230)}@example.com`);
    for (let index = 0; index < 150; index++) applyOwnMerge(state, `${index}${'f'.repeat(60)}`);
    expect(state.unsubscribed).toHaveLength(1_000);
    const input = serializeState(state, seen);
    expect(Buffer.byteLength(JSON.stringify(input))).toBeLessThan(MAX_INPUT_BYTES);
    expect(input.seen.length).toBeGreaterThan(0);
    expect(input.waiting?.count).toBe(25_000);
    expect(restoreState(JSON.parse(JSON.stringify(input))).state).toEqual(state);
  });

  it('is rejected if it is invalid, so that no rule starts over by mistake', () => {
    expect(() => restoreState({ format: 2 })).toThrow();
    expect(() => restoreState('hello')).toThrow();
  });
});

describe('the end of a change', () => {
  it('is truncated, and kept while the change is listed', () => {
    const state = newState();
    const changes = ['a', 'b'].map((workflowId) => ({ workflowId, startedAt: receivedAt }));
    state.changes = changes;
    recordChangeEnd(state, { workflowId: 'b', phase: 'unchanged', message: 'x'.repeat(2_000) });
    recordChangeEnd(state, { workflowId: 'no longer listed', phase: 'merged', message: null });
    expect(state.changes[0]).toEqual(changes[0]);
    expect(state.changes[1]?.end).toEqual({ phase: 'unchanged', message: expect.stringMatching(/^x{400,499}/) });
    const input = serializeState(state, createSeenDeliveries());
    expect(restoreState(JSON.parse(JSON.stringify(input))).state.changes).toEqual(state.changes);
  });
});
