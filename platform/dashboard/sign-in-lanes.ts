import { sha256Hex } from '../../base/sha256.ts';
import { FAILURES_COUNT_MS, type Failures } from '../../web/slow-guesses.ts';
import { decideUse, type Limit } from '../api/sliding-window.ts';
import type { Database } from '../store/database.ts';
import { lockUntilCommit } from '../store/locks.ts';
import { deleteUses, listUses, logUse } from '../store/usage-log.ts';

/** Failed sign-ins in the database, so that they count across all processes. */
export function createSignInFailures(db: Database): Failures {
  return {
    async count(scope) {
      return (await listUses(db, { scope, since: new Date(Date.now() - FAILURES_COUNT_MS) })).length;
    },
    add: (scope) => logUse(db, { scope, usedAt: new Date() }),
    forget: (scope) => deleteUses(db, scope),
  };
}

/** What failures count for: an account from one client network. A hash, so that the log of uses holds no email. */
export function accountLane(email: string, network: string): string {
  return `sign-in:${sha256Hex(JSON.stringify([email.toLowerCase(), network]))}`;
}

/** The lane of a browser that has signed in to the account before: nobody else is in it. */
export function deviceLane(device: string): string {
  return `sign-in-device:${device}`;
}

/** The lane of the password fields behind a sign-in: a stolen session must not be a way to guess the password. */
export function memberLane(userId: string): string {
  return `password-of:${userId}`;
}

/** Enough for a person who finds none of the earlier mails, whose links stay valid. */
const RESET_MAILS: Limit = { uses: 5, windowMs: 3_600_000 };

/** Counts a mail for a new password; false if the account got enough of them. */
export async function takeResetMail(db: Database, userId: string): Promise<boolean> {
  const scope = `reset-mail:${userId}`;
  return db.transaction(async (tx) => {
    await lockUntilCommit(tx, scope);
    const at = new Date();
    const uses = await listUses(tx, { scope, since: new Date(at.getTime() - RESET_MAILS.windowMs) });
    const times = uses.map((use) => use.getTime());
    const { allowed } = decideUse(RESET_MAILS, times, at.getTime());
    if (allowed) await logUse(tx, { scope, usedAt: at });
    return allowed;
  });
}
