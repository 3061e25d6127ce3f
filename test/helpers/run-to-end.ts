import { runInNewContext } from 'node:vm';

/** Stops work that hangs without yielding, which jest can't. Other work takes a tiny part of this time. */
const HANGS_AFTER_MS = 120_000;

/** Runs synchronous work, and throws if it hangs. */
export function runToEnd<Result>(work: () => Result): Result {
  const result: Result = runInNewContext('work()', { work }, { timeout: HANGS_AFTER_MS });
  return result;
}
