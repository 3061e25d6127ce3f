import type { PublishEvent, PublishedSignal } from '../../contract/publish-event.ts';
import type { DeliveryRecord } from '../../contract/site-state.ts';
import { addPublishes } from './debounce.ts';
import { endBackOff } from './export-back-off.ts';
import type { SeenDeliveries } from './seen-deliveries.ts';
import type { SiteMemory } from './site-memory.ts';

/** Deliveries listed in the state. */
const LISTED = 20;

/** The event is for people here; a longer text is cut, so that what is carried stays small. */
const MAX_TEXT = 500;

/** Takes in deliveries: resends are listed and forgotten, the others wait to be exported and end a back-off. */
export function takeIn(
  memory: SiteMemory,
  seen: SeenDeliveries,
  signal: PublishedSignal,
  now: { ms: number; workflowId: string },
): void {
  let count = 0;
  for (const delivery of signal.deliveries) {
    const receivedMs = Date.parse(delivery.receivedAt);
    const atMs = Number.isNaN(receivedMs) ? now.ms : receivedMs;
    const resend = seen.isResend(delivery, atMs);
    const outcome = resend ? 'duplicate' : memory.pending === null && count === 0 ? 'started' : 'coalesced';
    if (!resend) count++;
    record(memory, {
      id: delivery.id.slice(0, 200),
      source: delivery.source.slice(0, 100),
      at: delivery.receivedAt.slice(0, 50),
      outcome,
      workflowId: now.workflowId,
    });
  }
  if (count === 0) return;
  memory.pending = addPublishes(memory.pending, { count, newest: cut(signal.newest) }, now.ms);
  endBackOff(memory);
}

function record(memory: SiteMemory, delivery: DeliveryRecord): void {
  memory.deliveries = [delivery, ...memory.deliveries].slice(0, LISTED);
}

function cut(event: PublishEvent): PublishEvent {
  const { source, topic, action, id, title, url, author, at } = event;
  const short = (text: string): string => text.slice(0, MAX_TEXT);
  return {
    action,
    source: short(source),
    topic: short(topic),
    id: short(id),
    title: short(title),
    url: short(url),
    author: short(author),
    at: short(at),
  };
}
