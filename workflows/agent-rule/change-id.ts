import type { DeliveryRef } from '../../contract/publish-event.ts';
import { hash64 } from '../deliveries/hash64.ts';

/** Vendors' own ids are told apart for a day (design 6); what has a shorter window may well be sent again and mean it. */
const OWN_ID_WINDOW_MS = 24 * 3_600_000;

/** With a site's and a rule's name (63 characters each) an id stays far below the 1,000 that Temporal takes. */
const MAX_CHARACTERS = 100;

/**
 * What a change is named after a delivery, in the order in which it is to be tried. A delivery that has no id of its own
 * (the hash of a body), or whose window has passed, may be a second publish under the same id: its change is then named
 * with the time it was received too, so that it isn't taken for the first one.
 * @param knownBefore whether a delivery with this id came before, longer ago than its window.
 */
export function changeKeysOf(
  delivery: Pick<DeliveryRef, 'id' | 'receivedAt' | 'dedupeMs'>,
  knownBefore: boolean,
): string[] {
  const plain = safeId(delivery.id);
  const timed = `${plain}~${safeId(delivery.receivedAt)}`;
  if (knownBefore) return [timed];
  return delivery.dedupeMs < OWN_ID_WINDOW_MS ? [plain, timed] : [plain];
}

/** An id that is short and harmless in lists and addresses stays; another one is shortened, with its hash. */
function safeId(id: string): string {
  const safe = id.replace(/[^\w.:=+-]/g, '_');
  if (safe === id && id.length > 0 && id.length <= MAX_CHARACTERS) return id;
  return `${safe.slice(0, MAX_CHARACTERS - 12)}-${hash64(id)}`;
}
