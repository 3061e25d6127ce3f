import { sha256Hex } from '../../base/sha256.ts';
import { decideUse, type Limit } from '../api/sliding-window.ts';
import type { Database } from '../store/database.ts';
import { lockUntilCommit } from '../store/locks.ts';
import { deleteUses, listUses, logUse } from '../store/usage-log.ts';

const WINDOW_MS = 15 * 60_000;

/** Attempts for one account from one address, so that others can't lock the account from elsewhere. */
const PER_ACCOUNT: Limit = { uses: 10, windowMs: WINDOW_MS };
/** Attempts from one address for all accounts together. */
const PER_ADDRESS: Limit = { uses: 60, windowMs: WINDOW_MS };

type Attempt = { email: string; address: string };

/**
 * Counts an attempt to sign in, across all processes. Returns 0 if it may be made, otherwise the seconds to wait. The
 * attempt counts before its password is checked, so that parallel attempts don't get past the limit.
 */
export async function takeSignInAttempt(db: Database, attempt: Attempt): Promise<number> {
  const limits = [
    { scope: accountScope(attempt), limit: PER_ACCOUNT },
    { scope: addressScope(attempt), limit: PER_ADDRESS },
  ];
  return db.transaction(async (tx) => {
    await lockUntilCommit(tx, addressScope(attempt));
    const at = new Date();
    const since = new Date(at.getTime() - WINDOW_MS);
    for (const { scope, limit } of limits) {
      const uses = await listUses(tx, { scope, since });
      const times = uses.map((use) => use.getTime());
      const { allowed, resetSeconds } = decideUse(limit, times, at.getTime());
      if (!allowed) return resetSeconds;
    }
    for (const { scope } of limits) await logUse(tx, { scope, usedAt: at });
    return 0;
  });
}

/** After a success, earlier failures no longer count for the account. */
export async function forgetSignInAttempts(db: Database, attempt: Attempt): Promise<void> {
  await deleteUses(db, accountScope(attempt));
}

/** The scope has a hash, so that the log of uses holds no email. */
function accountScope({ email, address }: Attempt): string {
  const text = JSON.stringify([email.toLowerCase(), address]);
  return `sign-in:${sha256Hex(text)}`;
}

function addressScope({ address }: Attempt): string {
  return `sign-in-from:${sha256Hex(address)}`;
}
