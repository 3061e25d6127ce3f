import { cutText } from '../../contract/cut-text.ts';
import type { PublishedSignal } from '../../contract/publish-event.ts';
import type { DeliveryRecord } from '../../contract/site-state.ts';
import { cutEvent } from '../deliveries/cut-event.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { createWaitingBodies } from '../deliveries/waiting-bodies.ts';
import { addPublishes } from './debounce.ts';
import { endBackOff } from './export-back-off.ts';
import type { SiteMemory } from './site-memory.ts';

/** Deliveries listed in the state. */
const LISTED = 20;

/** Topics are names; what is listed is carried, and has to stay small. */
const MAX_TOPIC = 100;

/** Takes in deliveries: resends are listed and forgotten, the others wait to be exported and end a back-off. */
export function takeIn(
  memory: SiteMemory,
  seen: SeenDeliveries,
  signal: PublishedSignal,
  now: { ms: number; workflowId: string },
): void {
  let count = 0;
  const bodies = createWaitingBodies(memory.pending?.bodies ?? []);
  // Only the newest one's event comes whole; a delivery that comes alone is that.
  const newest = signal.deliveries.at(-1);
  const topic = cutText(signal.newest.topic, MAX_TOPIC);
  const firstListed = signal.deliveries.length - LISTED;
  for (const [index, delivery] of signal.deliveries.entries()) {
    const receivedMs = Date.parse(delivery.receivedAt);
    const atMs = Number.isNaN(receivedMs) ? now.ms : receivedMs;
    const resend = delivery.byBody ? !bodies.add(delivery) : seen.isResend(delivery, atMs);
    const outcome = resend ? 'duplicate' : memory.pending === null && count === 0 ? 'started' : 'coalesced';
    if (!resend) count++;
    if (index < firstListed) continue;
    record(memory, {
      id: delivery.id.slice(0, 200),
      source: delivery.source.slice(0, 100),
      at: delivery.receivedAt.slice(0, 50),
      outcome,
      workflowId: now.workflowId,
      ...(delivery === newest && topic !== '' && { topic }),
    });
  }
  if (count === 0) return;
  const publishes = { count, newest: cutEvent(signal.newest), bodies: bodies.hashes() };
  memory.pending = addPublishes(memory.pending, publishes, now.ms);
  endBackOff(memory);
}

function record(memory: SiteMemory, delivery: DeliveryRecord): void {
  memory.deliveries = [delivery, ...memory.deliveries].slice(0, LISTED);
}
