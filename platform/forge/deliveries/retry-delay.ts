const FIRST_MS = 1_000;
const LONGEST_MS = 600_000;

/** How long to wait after so many attempts (1 or more): a second, doubling to ten minutes. */
export function deliveryRetryDelayMs(attempts: number): number {
  return Math.min(FIRST_MS * 2 ** Math.min(attempts - 1, 20), LONGEST_MS);
}

/** A receiver that is away for longer has missed it. */
export const GIVE_UP_AFTER_MS = 86_400_000;
