import type { DeliveryRef } from '../../contract/publish-event.ts';
import { hash64 } from './hash64.ts';

/** The oldest are dropped first. Their resends cause another export. */
const MAX_BODIES = 1_000;

/**
 * The bodies of the deliveries that wait, for vendors that send no delivery id. A repeated body is a resend only while the
 * first one waits. Later it is a new publish.
 */
type WaitingBodies = {
  /** Returns false if the same body waits already. */
  add(delivery: Pick<DeliveryRef, 'id' | 'source'>): boolean;
  /** Their hashes, oldest first. */
  hashes(): string[];
};

export function createWaitingBodies(hashes: readonly string[]): WaitingBodies {
  const waiting = new Set(hashes);
  return {
    add({ id, source }) {
      const hash = hash64(`${source}\n${id}`);
      if (waiting.has(hash)) return false;
      waiting.add(hash);
      return true;
    },
    hashes: () => [...waiting].slice(-MAX_BODIES),
  };
}
