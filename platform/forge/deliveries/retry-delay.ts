const FIRST_MS = 1_000;
const LONGEST_MS = 600_000;

/** How long to wait after that many attempts (1 or more): a second, doubling to ten minutes. */
export function deliveryRetryDelayMs(attempts: number): number {
  return Math.min(FIRST_MS * 2 ** Math.min(attempts - 1, 20), LONGEST_MS);
}

/** After this, a delivery is given up. */
export const GIVE_UP_AFTER_MS = 86_400_000;
