import { setTimeout as sleep } from 'node:timers/promises';
import { createTurns } from './turns.ts';

/** Failures older than this no longer count. */
export const FAILURES_COUNT_MS = 15 * 60_000;

/** This many wrong secrets of a lane get an answer at once. */
const FREE_FAILURES = 10;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 2_000;
/** A person whose account is attacked from the same network waits at most for this many wrong ones. */
const MAX_WAITING = 20;

/** Where failures are kept, by lane: an account from one network, for example. */
export type Failures = {
  /** How many there were within `FAILURES_COUNT_MS`. */
  count(lane: string): number | Promise<number>;
  add(lane: string): void | Promise<void>;
  forget(lane: string): void | Promise<void>;
};

/** Checks a secret; undefined: it is wrong. */
export type Guess = <T>(lane: string, check: () => Promise<T | undefined>) => Promise<T | undefined>;

export type Wait = (ms: number) => Promise<void>;

const waitUnref: Wait = (ms) => sleep(ms, undefined, { ref: false });

/**
 * Slows down who guesses secrets, without locking anyone out: a lane's secrets are checked one at a time, and after some
 * failures each wrong one holds up its lane. A right one is never rejected or delayed for the failures of others.
 */
export function createGuessing(failures: Failures, wait: Wait = waitUnref): Guess {
  const turns = createTurns(MAX_WAITING);
  return (lane, check) =>
    turns(lane, async () => {
      const found = await check();
      if (found !== undefined) {
        await failures.forget(lane);
        return found;
      }
      const delayMs = delayAfter(await failures.count(lane));
      await failures.add(lane);
      if (delayMs > 0) await wait(delayMs);
      return undefined;
    });
}

/** Doubles every 5 failures. */
function delayAfter(failures: number): number {
  const doublings = Math.floor((failures - FREE_FAILURES) / 5);
  return failures < FREE_FAILURES ? 0 : Math.min(FIRST_DELAY_MS * 2 ** doublings, LONGEST_DELAY_MS);
}
