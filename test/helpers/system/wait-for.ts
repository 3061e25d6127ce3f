import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Completes the sentence "never …" of the failure. */
  describe: string;
  /** A bound for a machine that is busy, never an expectation of speed. */
  timeoutMs?: number;
  /** Without it, more and more seldom: each question costs the machine what the answer then waits for. */
  everyMs?: number;
}

const TIMEOUT_MS = 120_000;

/** A tenth of what has been waited for already, within these bounds. */
const PAUSE_MS = { shortest: 100, longest: 300 } as const;

/**
 * Asks until the answer is something (not undefined, null or false) and returns it. A question that throws is asked
 * again; the last reason stands in the failure.
 */
export async function waitFor<T>(
  probe: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  { describe, timeoutMs = TIMEOUT_MS, everyMs }: WaitOptions,
): Promise<T> {
  const startedAt = Date.now();
  let reason = '';
  for (;;) {
    try {
      const found = await probe();
      if (found !== undefined && found !== null && found !== false) return found;
      reason = '';
    } catch (error) {
      reason = ` (${error instanceof Error ? error.message : error})`;
    }
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > timeoutMs) throw new Error(`never ${describe}, in ${timeoutMs / 1000} s${reason}`);
    await sleep(everyMs ?? Math.min(Math.max(waitedMs / 10, PAUSE_MS.shortest), PAUSE_MS.longest));
  }
}
