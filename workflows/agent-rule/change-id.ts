import type { DeliveryRef } from '../../contract/publish-event.ts';
import { hash64 } from '../deliveries/hash64.ts';

/** Ids of vendors are unique for a day. With a shorter window, the same id may be another publish. */
const VENDOR_ID_WINDOW_MS = 24 * 3_600_000;

/** The most characters of a safe id. With site and rule names, ids stay far below Temporal's limit of 1,000. */
const MAX_CHARACTERS = 100;

/**
 * The keys of a change's workflow id, in the order to try them. If the id of a delivery may repeat (it is the hash of a
 * body, or its window has passed), the second key adds the time, so that a second publish gets a change of its own.
 * @param knownBefore whether the same id was seen before, longer ago than its window
 */
export function changeKeysOf(
  delivery: Pick<DeliveryRef, 'id' | 'receivedAt' | 'dedupeMs'>,
  knownBefore: boolean,
): string[] {
  const plain = safeId(delivery.id);
  const timed = `${plain}~${safeId(delivery.receivedAt)}`;
  if (knownBefore) return [timed];
  return delivery.dedupeMs < VENDOR_ID_WINDOW_MS ? [plain, timed] : [plain];
}

/** Ids that are too long, or have characters that are unsafe in URLs, are shortened and get their hash. */
function safeId(id: string): string {
  const safe = id.replace(/[^\w.:=+-]/g, '_');
  if (safe === id && id.length > 0 && id.length <= MAX_CHARACTERS) return id;
  return `${safe.slice(0, MAX_CHARACTERS - 12)}-${hash64(id)}`;
}
