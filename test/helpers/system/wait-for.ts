import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Completes the error message "never …". */
  describe: string;
  /** Long enough for a busy machine. A test must not use it to check speed. */
  timeoutMs?: number;
  /** The polling interval. By default it grows, because polling slows down the awaited work. */
  everyMs?: number;
}

const TIMEOUT_MS = 120_000;

/** The default interval is a tenth of the time waited so far, within these bounds. */
const PAUSE_MS = { shortest: 100, longest: 300 } as const;

/**
 * Polls until `probe` returns something other than undefined, null or false, and returns that. A probe that throws is
 * repeated. The failure contains its last error.
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
