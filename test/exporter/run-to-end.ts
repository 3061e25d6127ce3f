import { runInNewContext } from 'node:vm';

/** Stops work that hangs without ever yielding, which jest can't. Work that doesn't hang takes a tiny part of this. */
const HANGS_AFTER_MS = 120_000;

/** Runs synchronous work to its end, and throws if it hangs. */
export function runToEnd<Result>(work: () => Result): Result {
  const result: Result = runInNewContext('work()', { work }, { timeout: HANGS_AFTER_MS });
  return result;
}
