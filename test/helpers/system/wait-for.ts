import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Completes the sentence "never …" of the failure. */
  describe: string;
  /** A bound for a machine that is busy, never an expectation of speed. */
  timeoutMs?: number;
  everyMs?: number;
}

const TIMEOUT_MS = 120_000;

/**
 * Asks until the answer is something (not undefined, null or false) and returns it. A question that throws is asked
 * again; the last reason stands in the failure.
 */
export async function waitFor<T>(
  probe: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  { describe, timeoutMs = TIMEOUT_MS, everyMs = 100 }: WaitOptions,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let reason = '';
  for (;;) {
    try {
      const found = await probe();
      if (found !== undefined && found !== null && found !== false) return found;
      reason = '';
    } catch (error) {
      reason = ` (${error instanceof Error ? error.message : error})`;
    }
    if (Date.now() > deadline) throw new Error(`never ${describe}, in ${timeoutMs / 1000} s${reason}`);
    await sleep(everyMs);
  }
}
