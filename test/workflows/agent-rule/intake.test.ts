import type { PublishEvent, PublishedSignal } from '../../../contract/publish-event.ts';
import {
  noteChangeEnd,
  noteOwnMerge,
  noteUnsubscribed,
  takeIn,
  withoutFirst,
} from '../../../workflows/agent-rule/intake.ts';
import {
  freshRuleMemory,
  fromRuleCarry,
  MAX_RULE_CARRY_BYTES,
  type RuleMemory,
  toRuleCarry,
} from '../../../workflows/agent-rule/rule-memory.ts';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';

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

function taken(...signals: PublishedSignal[]): RuleMemory {
  const memory = freshRuleMemory();
  const seen = createSeenDeliveries();
  for (const each of signals) takeIn(memory, seen, each, NOW_MS);
  return memory;
}

const ids = (memory: RuleMemory): string[] => memory.waiting?.events.map(({ event: { id } }) => id) ?? [];

describe('what a rule collects', () => {
  it('is each event once, in the order of arrival', () => {
    const memory = taken(signal([event('a'), event('b')]), signal([event('b'), event('c')]));
    expect(ids(memory)).toEqual(['a', 'b', 'c']);
    expect(memory.waiting).toMatchObject({ count: 3, changeKeys: ['d-a'] });
  });

  it('is the newest event and a count where a signal tells no more', () => {
    const { events: _untold, ...told } = signal([event('a'), event('b'), event('c')]);
    const memory = taken(told);
    expect(ids(memory)).toEqual(['c']);
    expect(memory.waiting).toMatchObject({ count: 3, changeKeys: ['d-c'] });
    expect(taken({ ...told, newest: event('c', { agentsOwn: true }) }).waiting).toBeNull();
  });

  it('is named after the next delivery without the first one, whose event may be gone already', () => {
    const { waiting } = taken(signal([event('a'), event('b')]));
    if (waiting === null) throw new Error('nothing waits');
    const second = withoutFirst(waiting);
    expect(second).toMatchObject({ count: 1, changeKeys: ['d-b'], events: [{ event: { id: 'b' } }] });
    expect(second && withoutFirst(second)).toBeNull();
    const cut = { ...waiting, count: 9, changeKeys: ['d-gone'] };
    expect(withoutFirst(cut)).toMatchObject({ count: 8, changeKeys: ['d-a'], events: waiting.events });
  });

  it('leaves out what is the agent’s own, and nothing else', () => {
    const own = { agentsOwn: true } as const;
    const memory = taken(signal([event('a', own), event('b'), event('c', own)]));
    expect(ids(memory)).toEqual(['b']);
    expect(memory.waiting?.changeKeys).toEqual(['d-b']);
  });

  it('loses a waiting push that turns out to be a merge of its own, and is then named after the next', () => {
    const memory = taken(signal([event('sha'), event('b')]));
    noteOwnMerge(memory, 'sha');
    expect(ids(memory)).toEqual(['b']);
    expect(memory.waiting).toMatchObject({ count: 1, changeKeys: ['d-b'] });
    noteOwnMerge(memory, 'b');
    expect(memory.waiting).toBeNull();
  });

  it('knows its own newest hundred merges', () => {
    const memory = freshRuleMemory();
    for (let index = 0; index < 150; index++) noteOwnMerge(memory, `sha-${index}`);
    expect(memory.ownMerges).toHaveLength(100);
    takeIn(memory, createSeenDeliveries(), signal([event('sha-10'), event('sha-149')]), NOW_MS);
    expect(ids(memory)).toEqual(['sha-10']);
  });
});

describe('what a rule carries', () => {
  it('is who unsubscribed, in lower case, each once', () => {
    const memory = freshRuleMemory();
    for (const address of ['Ada@Example.com', 'bob@example.com', ' ada@example.com ', '']) {
      noteUnsubscribed(memory, address);
    }
    expect(memory.unsubscribed).toEqual(['bob@example.com', 'ada@example.com']);
  });

  it('is the newest two hundred events, cut, and the count of all', () => {
    const events = Array.from({ length: 1_000 }, (_, index) => event(`${index}`));
    const memory = taken(signal(events));
    expect(ids(memory)).toHaveLength(200);
    expect(ids(memory).at(-1)).toBe('999');
    expect(memory.waiting).toMatchObject({ count: 1_000, changeKeys: ['d-0'] });
  });

  it('stays small, whatever was collected', () => {
    const long = '€'.repeat(5_000);
    const fields = { source: long, topic: long, title: long, url: long, author: long, at: long } as const;
    const memory = freshRuleMemory();
    const seen = createSeenDeliveries();
    for (let round = 0; round < 25; round++) {
      const events = Array.from({ length: 1_000 }, (_, index) => event(`${index}`, index % 50 === 0 ? fields : {}));
      takeIn(memory, seen, signal(events, `${round}`), NOW_MS);
    }
    for (let index = 0; index < 1_200; index++) noteUnsubscribed(memory, `${index}${'a'.repeat(230)}@example.com`);
    for (let index = 0; index < 150; index++) noteOwnMerge(memory, `${index}${'f'.repeat(60)}`);
    expect(memory.unsubscribed).toHaveLength(1_000);
    const carry = toRuleCarry(memory, seen);
    expect(Buffer.byteLength(JSON.stringify(carry))).toBeLessThan(MAX_RULE_CARRY_BYTES);
    expect(carry.seen.length).toBeGreaterThan(0);
    expect(carry.waiting?.count).toBe(25_000);
    expect(fromRuleCarry(JSON.parse(JSON.stringify(carry))).memory).toEqual(memory);
  });

  it('is refused where it can not be read, so that no run starts from nothing by mistake', () => {
    expect(() => fromRuleCarry({ format: 2 })).toThrow();
    expect(() => fromRuleCarry('hello')).toThrow();
  });
});

describe('the end of a change', () => {
  it('is kept with the change for as long as that is listed, and bounded', () => {
    const memory = freshRuleMemory();
    const changes = ['a', 'b'].map((workflowId) => ({ workflowId, startedAt: receivedAt }));
    memory.changes = changes;
    noteChangeEnd(memory, { workflowId: 'b', phase: 'unchanged', message: 'x'.repeat(2_000) });
    noteChangeEnd(memory, { workflowId: 'no longer listed', phase: 'merged', message: null });
    expect(memory.changes[0]).toEqual(changes[0]);
    expect(memory.changes[1]?.end).toEqual({ phase: 'unchanged', message: expect.stringMatching(/^x{400,499}/) });
    const carried = toRuleCarry(memory, createSeenDeliveries());
    expect(fromRuleCarry(JSON.parse(JSON.stringify(carried))).memory.changes).toEqual(memory.changes);
  });
});
