import { randomBytes } from 'node:crypto';
import { sha256Hex } from '../../base/sha256.ts';
import type { Database } from '../store/database.ts';
import { hasMembers, insertSetupLink } from '../store/members.ts';

export const SETUP = '/ui/setup';

/** Long enough for a terminal that someone reads later. */
const VALID_MS = 24 * 3_600_000;

/** The link with which the first administrator signs up, once. Undefined if there are members already. */
export async function createSetupUrl(db: Database, publicUrl: string): Promise<string | undefined> {
  if (await hasMembers(db)) return undefined;
  const secret = randomBytes(32).toString('base64url');
  await insertSetupLink(db, { sha256: hashSetupSecret(secret), expiresAt: new Date(Date.now() + VALID_MS) });
  return `${publicUrl}${SETUP}?link=${secret}`;
}

export function hashSetupSecret(secret: string): string {
  return sha256Hex(secret);
}
