import type { FetchResult } from '../fetch/fetch-result.ts';

/** Good answers at hand, by export and address: the newest, up to a number of bytes. */
export type AnswerMemory = {
  recall(key: string): FetchResult | undefined;
  remember(key: string, result: FetchResult): void;
};

/** What one answer costs beside its body. */
const ENTRY_BYTES = 512;

function sizeOf(result: FetchResult): number {
  return ENTRY_BYTES + (result.kind === 'response' ? result.body.length : 0);
}

export function createAnswerMemory(maxBytes: number): AnswerMemory {
  // A Map keeps its order of insertion, so the first key is the one used longest ago.
  const known = new Map<string, FetchResult>();
  let total = 0;

  function forget(key: string): void {
    const old = known.get(key);
    if (old === undefined) return;
    known.delete(key);
    total -= sizeOf(old);
  }

  return {
    recall(key) {
      const found = known.get(key);
      if (found === undefined) return undefined;
      known.delete(key);
      known.set(key, found);
      return found;
    },

    remember(key, result) {
      // One large file would push out all that pages have in common.
      if (sizeOf(result) > maxBytes / 4) return;
      forget(key);
      known.set(key, result);
      total += sizeOf(result);
      for (const oldest of known.keys()) {
        if (total <= maxBytes) return;
        forget(oldest);
      }
    },
  };
}
