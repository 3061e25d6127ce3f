import { setMaxListeners } from 'node:events';

/**
 * Runs two tasks at the same time. If one fails, the other is aborted and awaited, so that nothing runs on when this
 * throws the first failure.
 */
export async function sideBySide<One, Other>(
  signal: AbortSignal,
  one: (signal: AbortSignal) => Promise<One>,
  other: (signal: AbortSignal) => Promise<Other>,
): Promise<[One, Other]> {
  const { either, abortOthers } = untilFirstFailure(signal);
  const both = [one(either).catch(abortOthers), other(either).catch(abortOthers)] as const;
  await Promise.allSettled(both);
  return Promise.all(both);
}

/** A signal for tasks that end together, and what to do about the failure of one: the first is thrown by all. */
function untilFirstFailure(signal: AbortSignal): { either: AbortSignal; abortOthers: (error: unknown) => never } {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  // Every request of all tasks listens to it; Node warns of a leak above ten listeners.
  setMaxListeners(0, either);
  const abortOthers = (error: unknown): never => {
    failure.abort(error);
    throw failure.signal.reason;
  };
  return { either, abortOthers };
}

/**
 * Takes items and works on `atOnce` of them at a time, until `take` returns none or `goesOn` returns false. If one fails,
 * no more are taken and the others are aborted and awaited, so that nothing runs on when this throws the first failure.
 */
export async function workThrough<Item>(
  options: { take: () => Promise<Item[]>; atOnce: number; goesOn: () => boolean; signal: AbortSignal },
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { either, abortOthers } = untilFirstFailure(options.signal);
  const next = inTurn(options.take);
  async function workOn(): Promise<void> {
    while (options.goesOn()) {
      either.throwIfAborted();
      const item = await next();
      if (item === undefined) return;
      await work(item, either);
    }
  }
  const all = Array.from({ length: options.atOnce }, () => workOn().catch(abortOthers));
  await Promise.allSettled(all);
  await Promise.all(all);
}

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
  const items: Item[] = [];
  const workers: Array<Promise<void>> = [];
  let nextIndex = 0;
  let busyCount = 0;
  let failure: { error: unknown } | undefined;

  // A loop for each of `atOnce` workers: with a library, each item costs about seven promises, a tenth of a revalidation.
  async function workInTurn(): Promise<void> {
    busyCount += 1;
    try {
      while (nextIndex < items.length && failure === undefined && goesOn()) {
        const item = items[nextIndex];
        nextIndex += 1;
        if (item !== undefined) await work(item);
      }
    } catch (error) {
      failure ??= { error };
    } finally {
      busyCount -= 1;
    }
  }

  return {
    add(item) {
      items.push(item);
      if (busyCount < atOnce) workers.push(workInTurn());
    },
    async ended() {
      // Workers that start meanwhile are awaited too.
      for (const each of workers) await each;
      if (failure !== undefined) throw failure.error;
    },
  };
}

export type ByteBudget = {
  /** Runs the work once this many bytes are free, and releases them when it ends. */
  use<Result>(bytes: number, work: () => Promise<Result>): Promise<Result>;
};

/**
 * Limits the memory of concurrent work. First come, first served; work that is larger than the whole budget runs alone.
 */
export function createByteBudget(maxBytes: number): ByteBudget {
  const waiting: Array<{ bytes: number; begin: () => void }> = [];
  let usedBytes = 0;

  function admit(): void {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      if (usedBytes > 0 && usedBytes + next.bytes > maxBytes) return;
      waiting.shift();
      usedBytes += next.bytes;
      next.begin();
    }
  }

  return {
    async use(bytes, work) {
      await new Promise<void>((begin) => {
        waiting.push({ bytes, begin });
        admit();
      });
      try {
        return await work();
      } finally {
        usedBytes -= bytes;
        admit();
      }
    },
  };
}

const waiting: Array<() => void> = [];

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}

/**
 * Waits for a turn of the event loop of its own, one caller per turn. Responses of many connections arrive in one turn;
 * processing them all at once would leave the origin idle until the last one is done.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}

/** Returns the items of `take` one by one to concurrent callers; undefined if it returned none. */
function inTurn<Item>(take: () => Promise<Item[]>): () => Promise<Item | undefined> {
  let items: Item[] = [];
  let taking: Promise<boolean> | undefined;
  const takeMore = async (): Promise<boolean> => {
    items = await take();
    taking = undefined;
    return items.length > 0;
  };
  return async () => {
    while (items.length === 0) {
      // Concurrent callers share one call, and others may have taken all of its items.
      taking ??= takeMore();
      if (!(await taking)) return undefined;
    }
    return items.shift();
  };
}
