import { HttpError } from '../../web/http-error.ts';
import { retryAfter } from '../../web/retry-after.ts';
import type { Transaction } from '../store/database.ts';
import { listUses, logUse } from '../store/usage-log.ts';
import { type Allowance, decideUse, type Limit } from './sliding-window.ts';

/**
 * Counts one use of a scope. The caller holds the scope's lock until the transaction ends, so two processes can't take
 * the last slot, and a use counts only if the transaction commits. Throws 429 with the time until a slot is free.
 */
export async function takeUse(
  tx: Transaction,
  { scope, limit, at }: { scope: string; limit: Limit; at: Date },
): Promise<Record<string, string>> {
  const uses = await listUses(tx, { scope, since: new Date(at.getTime() - limit.windowMs) });
  const allowance = decideUse(
    limit,
    uses.map((use) => use.getTime()),
    at.getTime(),
  );
  if (!allowance.allowed) {
    throw new HttpError(
      429,
      `The limit of ${limit.uses} per hour is reached; a slot is free in ${allowance.resetSeconds} s`,
      {
        ...rateLimitHeaders(limit, allowance),
        ...retryAfter(allowance.resetSeconds),
      },
    );
  }
  await logUse(tx, { scope, usedAt: at });
  return rateLimitHeaders(limit, allowance);
}

/** The headers of draft-ietf-httpapi-ratelimit-headers-06; the reset is when the next slot becomes free. */
function rateLimitHeaders(limit: Limit, allowance: Allowance): Record<string, string> {
  return {
    'RateLimit-Limit': String(limit.uses),
    'RateLimit-Remaining': String(allowance.remaining),
    'RateLimit-Reset': String(allowance.resetSeconds),
  };
}
