import pLimit from 'p-limit';

export type WorkList<Item> = {
  add(item: Item): void;
  /** Waits until all work has ended, also that on items added meanwhile. Throws the first error. */
  ended(): Promise<void>;
};

/**
 * Works on items in the order they are added, `atOnce` at a time. After a failure, or once `goesOn` returns false, no
 * more work starts.
 */
export function createWorkList<Item>(
  { atOnce, goesOn }: { atOnce: number; goesOn: () => boolean },
  work: (item: Item) => Promise<void>,
): WorkList<Item> {
  const limit = pLimit(atOnce);
  const pending: Array<Promise<void>> = [];
  let failure: { error: unknown } | undefined;

  async function workOn(item: Item): Promise<void> {
    if (failure !== undefined || !goesOn()) return;
    try {
      await work(item);
    } catch (error) {
      failure ??= { error };
    }
  }

  return {
    add: (item) => void pending.push(limit(workOn, item)),
    async ended() {
      // Work that is added meanwhile is awaited too.
      for (const each of pending) await each;
      if (failure !== undefined) throw failure.error;
    },
  };
}
