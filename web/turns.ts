import { HttpError } from './http-error.ts';
import { retryAfter } from './retry-after.ts';

const RETRY_AFTER_SECONDS = 5;

type Waiter = { begin: () => void; reject: (error: HttpError) => void };

/** Runs work with a key while no other work has it. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Turns in random order: a flood of others delays a caller, but doesn't shut it out as a queue or a limit would. If
 * `maxWaiting` callers wait for a key, one more takes the place of a random one, which gets 429.
 */
export function createTurns(maxWaiting: number): Turns {
  const waiting = new Map<string, Waiter[]>();

  const takeRandom = (waiters: Waiter[]): Waiter | undefined =>
    waiters.splice(Math.floor(Math.random() * waiters.length), 1)[0];

  function wait(waiters: Waiter[]): Promise<void> {
    if (waiters.length >= maxWaiting) {
      const message = `Too many attempts at once: try again in ${RETRY_AFTER_SECONDS} seconds`;
      takeRandom(waiters)?.reject(new HttpError(429, message, retryAfter(RETRY_AFTER_SECONDS)));
    }
    return new Promise<void>((begin, reject) => void waiters.push({ begin, reject }));
  }

  return async (key, work) => {
    const waiters = waiting.get(key);
    if (waiters === undefined) waiting.set(key, []);
    else await wait(waiters);
    try {
      return await work();
    } finally {
      const next = takeRandom(waiting.get(key) ?? []);
      if (next === undefined) waiting.delete(key);
      else next.begin();
    }
  };
}
