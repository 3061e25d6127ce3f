import type { ChangeEnded } from '../../contract/agent-state.ts';
import { cutText } from '../../contract/cut-text.ts';
import type { PublishEvent, PublishedSignal } from '../../contract/publish-event.ts';
import { cutEvent } from '../deliveries/cut-event.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { createWaitingBodies } from '../deliveries/waiting-bodies.ts';
import { changeKeysOf } from './change-id.ts';
import type { RuleMemory, Waiting } from './rule-memory.ts';

/** Events kept whole for the prompt; of older ones only the number is told. */
export const MAX_EVENTS = 200;

/** And no more of them than this: they are a change's input and a part of what is carried. */
const MAX_EVENTS_BYTES = 200_000;

const MAX_OWN_MERGES = 100;
const MAX_UNSUBSCRIBED = 1_000;
const MAX_ADDRESS = 254;

/** Of how a change ended. */
const MAX_MESSAGE = 500;

type Entry = Waiting['events'][number];

/** Takes in deliveries: resends, and pushes of the agent's own work, are forgotten, the others wait to be prompted. */
export function takeIn(memory: RuleMemory, seen: SeenDeliveries, signal: PublishedSignal, nowMs: number): void {
  const { deliveries } = signal;
  const events = signal.events ?? [signal.newest];
  const untold = deliveries.length - events.length;
  const entries: Entry[] = [];
  const bodies = createWaitingBodies(memory.waiting?.bodies ?? []);
  let count = 0;
  for (const [index, delivery] of deliveries.entries()) {
    const receivedMs = Date.parse(delivery.receivedAt);
    const knownBefore = seen.has(delivery);
    const atMs = Number.isNaN(receivedMs) ? nowMs : receivedMs;
    const resend = seen.isResend(delivery, atMs) || (delivery.byBody === true && !bodies.add(delivery));
    if (resend) continue;
    const event = events[index - untold];
    if (event === undefined) count++;
    else if (!isOwn(memory, event)) {
      count++;
      entries.push({ changeKeys: changeKeysOf(delivery, knownBefore), event: cutEvent(event) });
    }
  }
  // Deliveries whose events aren't told can only be counted with others.
  const [first] = entries;
  if (first === undefined) return;
  const { waiting } = memory;
  memory.waiting = {
    count: (waiting?.count ?? 0) + count,
    firstAtMs: waiting?.firstAtMs ?? nowMs,
    lastAtMs: nowMs,
    changeKeys: waiting?.changeKeys ?? first.changeKeys,
    events: newest([...(waiting?.events ?? []), ...entries]),
    bodies: bodies.hashes(),
  };
}

/** Remembers a commit that merged the agent's own work, and forgets the push of it where that waits already. */
export function noteOwnMerge(memory: RuleMemory, sha: string): void {
  memory.ownMerges = [sha, ...memory.ownMerges.filter((other) => other !== sha)].slice(0, MAX_OWN_MERGES);
  const { waiting } = memory;
  if (waiting === null) return;
  const events = waiting.events.filter(({ event }) => event.id !== sha);
  const [first] = events;
  if (first === undefined) memory.waiting = null;
  else {
    const dropped = waiting.events.filter(({ event }) => event.id === sha);
    const count = waiting.count - dropped.length;
    const named = dropped.some(({ changeKeys }) => changeKeys[0] === waiting.changeKeys[0]);
    memory.waiting = { ...waiting, count, events, changeKeys: named ? first.changeKeys : waiting.changeKeys };
  }
}

/** What is left of what waits without the delivery that it is named after. Null where that is nothing. */
export function withoutFirst(waiting: Waiting): Waiting | null {
  const [oldest, ...others] = waiting.events;
  // The first one's event may be among those that are no longer kept.
  const events = oldest?.changeKeys[0] === waiting.changeKeys[0] ? others : waiting.events;
  const [first] = events;
  return first === undefined ? null : { ...waiting, count: waiting.count - 1, events, changeKeys: first.changeKeys };
}

/** Notes how a change of this rule ended; one that is no longer listed is forgotten. */
export function noteChangeEnd(memory: RuleMemory, { workflowId, phase, message }: ChangeEnded): void {
  const end = { phase, message: message === null ? null : cutText(message, MAX_MESSAGE) };
  memory.changes = memory.changes.map((change) => (change.workflowId === workflowId ? { ...change, end } : change));
}

/** Remembers who wants no more mail, by the address in lower case. */
export function noteUnsubscribed(memory: RuleMemory, address: string): void {
  const clean = address.trim().toLowerCase();
  if (clean === '' || clean.length > MAX_ADDRESS) return;
  memory.unsubscribed = [...memory.unsubscribed.filter((other) => other !== clean), clean].slice(-MAX_UNSUBSCRIBED);
}

function isOwn({ ownMerges }: RuleMemory, event: PublishEvent): boolean {
  return event.agentsOwn === true || ownMerges.includes(event.id);
}

/** As many of the newest as may be kept; one at least. */
function newest(entries: readonly Entry[]): Entry[] {
  let sizeBytes = 0;
  const from = entries.findLastIndex((entry, index) => {
    sizeBytes += new TextEncoder().encode(JSON.stringify(entry)).byteLength;
    return index <= entries.length - 1 - MAX_EVENTS || sizeBytes > MAX_EVENTS_BYTES;
  });
  return entries.slice(Math.min(from + 1, entries.length - 1));
}
