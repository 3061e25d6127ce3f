import { backoff } from '../../../base/backoff.ts';

/** How long to wait after that many attempts (1 or more): a second, doubling to ten minutes. */
export const deliveryRetryDelayMs = backoff({ firstMs: 1_000, maxMs: 600_000 });

/** After this, a delivery is given up. */
export const GIVE_UP_AFTER_MS = 86_400_000;
