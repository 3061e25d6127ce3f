import type { ChangeEnded } from '../../contract/agent-state.ts';
import { cutText } from '../../contract/cut-text.ts';
import type { PublishEvent, PublishedSignal } from '../../contract/publish-event.ts';
import { cutEvent } from '../deliveries/cut-event.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { createWaitingBodies } from '../deliveries/waiting-bodies.ts';
import { addTraces } from '../tracing/span.ts';
import { changeKeysOf } from './change-id.ts';
import { addStart } from './schedule.ts';
import type { MutableState, Waiting } from './state.ts';

/** The named changes of a rule's state. */

/** Events kept for the prompt. Older ones are only counted. */
export const MAX_EVENTS = 200;
/** The kept events are part of a workflow's input. */
const MAX_EVENTS_BYTES = 200_000;
const MAX_CHANGES = 20;
const MAX_OWN_MERGES = 100;
const MAX_UNSUBSCRIBED = 1_000;
const MAX_ADDRESS = 254;
const MAX_MESSAGE = 500;

type Entry = Waiting['events'][number];

export function reportUnconfigured(state: MutableState, message: string): void {
  state.unconfigured = message;
}

/** Collects deliveries to be prompted. Resends, and pushes of the agent's own work, are dropped. */
export function applyDeliveries(
  state: MutableState,
  seen: SeenDeliveries,
  signal: PublishedSignal,
  nowMs: number,
): void {
  const { deliveries } = signal;
  const events = signal.events ?? [signal.newest];
  const withoutEvent = deliveries.length - events.length;
  const entries: Entry[] = [];
  const bodies = createWaitingBodies(state.waiting?.bodies ?? []);
  let count = 0;
  for (const [index, delivery] of deliveries.entries()) {
    const receivedMs = Date.parse(delivery.receivedAt);
    const knownBefore = seen.has(delivery);
    const atMs = Number.isNaN(receivedMs) ? nowMs : receivedMs;
    const resend = seen.isResend(delivery, atMs) || (delivery.byBody === true && !bodies.add(delivery));
    if (resend) continue;
    const event = events[index - withoutEvent];
    if (event === undefined) count++;
    else if (!isOwn(state, event)) {
      count++;
      entries.push({ changeKeys: changeKeysOf(delivery, knownBefore), event: cutEvent(event) });
    }
  }
  // Deliveries without an event can only be counted together with others.
  const [first] = entries;
  if (first === undefined) return;
  state.newest = entries.at(-1) ?? null;
  const { waiting } = state;
  state.waiting = {
    count: (waiting?.count ?? 0) + count,
    firstAtMs: waiting?.firstAtMs ?? nowMs,
    lastAtMs: nowMs,
    changeKeys: waiting?.changeKeys ?? first.changeKeys,
    events: newest([...(waiting?.events ?? []), ...entries]),
    bodies: bodies.hashes(),
    ...addTraces(
      waiting?.traces,
      deliveries.map(({ traceparent }) => traceparent),
    ),
    immediate: waiting?.immediate ?? false,
  };
}

/** Why the newest event can't be prompted again; null if it can. */
export function whyNotAgain({ newest, waiting }: Pick<MutableState, 'newest' | 'waiting'>): string | null {
  if (waiting !== null) return `${waiting.count} event(s) wait to be prompted already`;
  return newest === null ? 'the rule knows no event: it keeps the newest one from its next publish on' : null;
}

/** Prompts with the newest event again, by a change with an id of its own. */
export function runAgain(state: MutableState, nowMs: number): void {
  const { newest } = state;
  if (newest === null) return;
  const [firstKey = ''] = newest.changeKeys;
  const [id = ''] = firstKey.split('~');
  const changeKeys = changeKeysOf({ id, receivedAt: new Date(nowMs).toISOString(), dedupeMs: 0 }, true);
  const events = [{ changeKeys, event: newest.event }];
  state.waiting = { count: 1, firstAtMs: nowMs, lastAtMs: nowMs, changeKeys, events, bodies: [], immediate: true };
}

/** A commit merged the agent's own work: its push is dropped, even if it waits already. */
export function applyOwnMerge(state: MutableState, sha: string): void {
  state.ownMerges = [sha, ...state.ownMerges.filter((other) => other !== sha)].slice(0, MAX_OWN_MERGES);
  const { waiting } = state;
  if (waiting === null) return;
  const events = waiting.events.filter(({ event }) => event.id !== sha);
  const [first] = events;
  if (first === undefined) state.waiting = null;
  else {
    const dropped = waiting.events.filter(({ event }) => event.id === sha);
    const count = waiting.count - dropped.length;
    const named = dropped.some(({ changeKeys }) => changeKeys[0] === waiting.changeKeys[0]);
    state.waiting = { ...waiting, count, events, changeKeys: named ? first.changeKeys : waiting.changeKeys };
  }
}

export function dropWaiting(state: MutableState): void {
  state.waiting = null;
}

export function changeStarted(state: MutableState, workflowId: string, nowMs: number): void {
  state.startsMs = addStart(state.startsMs, nowMs);
  const change = { workflowId, startedAt: new Date(nowMs).toISOString() };
  state.changes = [change, ...state.changes].slice(0, MAX_CHANGES);
}

/** A change that is no longer listed is ignored. One whose pull request is reopened has no end any more. */
export function recordChangeEnd(state: MutableState, { workflowId, phase, message }: ChangeEnded): void {
  const end = { phase, message: message === null ? null : cutText(message, MAX_MESSAGE) };
  state.changes = state.changes.map((change) => {
    if (change.workflowId !== workflowId) return change;
    return { workflowId, startedAt: change.startedAt, ...(phase !== 'in-review' && { end }) };
  });
}

export function unsubscribe(state: MutableState, address: string): void {
  const clean = address.trim().toLowerCase();
  if (clean === '' || clean.length > MAX_ADDRESS) return;
  state.unsubscribed = [...state.unsubscribed.filter((other) => other !== clean), clean].slice(-MAX_UNSUBSCRIBED);
}

/** Removes the delivery that names the change. Null if nothing is left. */
export function withoutFirst(waiting: Waiting): Waiting | null {
  const [oldest, ...others] = waiting.events;
  // The event of the first delivery may have been dropped.
  const events = oldest?.changeKeys[0] === waiting.changeKeys[0] ? others : waiting.events;
  const [first] = events;
  return first === undefined ? null : { ...waiting, count: waiting.count - 1, events, changeKeys: first.changeKeys };
}

function isOwn({ ownMerges }: MutableState, event: PublishEvent): boolean {
  return event.agentsOwn === true || ownMerges.includes(event.id);
}

/** The newest entries that fit, but at least one. */
function newest(entries: readonly Entry[]): Entry[] {
  let sizeBytes = 0;
  const from = entries.findLastIndex((entry, index) => {
    sizeBytes += new TextEncoder().encode(JSON.stringify(entry)).byteLength;
    return index <= entries.length - 1 - MAX_EVENTS || sizeBytes > MAX_EVENTS_BYTES;
  });
  return entries.slice(Math.min(from + 1, entries.length - 1));
}
