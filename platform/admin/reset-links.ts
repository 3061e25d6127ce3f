import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { sha256Hex } from '../../base/sha256.ts';
import { HttpError } from '../../web/http-error.ts';
import type { Database } from '../store/database.ts';
import { findUserByEmail, insertResetLink } from '../store/members.ts';

/** The page to which the links lead. */
export const RESET = '/ui/reset';

const VALID_MS = 3_600_000;

export const resetLinkRequest = z.strictObject({
  email: z.email('expected an email such as ada@example.com').max(254),
});
export type ResetLinkRequest = z.infer<typeof resetLinkRequest>;

export const resetLink = z.object({ url: z.string(), expiresAt: z.string() });
export type ResetLink = z.infer<typeof resetLink>;

/**
 * A link with which a member of the dashboard sets a new password, once within an hour. Throws an `HttpError` 404 if
 * no member has that email.
 */
export async function createResetLink(
  db: Database,
  { email, publicUrl }: ResetLinkRequest & { publicUrl: string },
): Promise<ResetLink> {
  const user = await findUserByEmail(db, email);
  if (user === undefined) throw new HttpError(404, `The dashboard has no account with the email ${email}`);
  const secret = randomBytes(32).toString('base64url');
  const expiresAt = new Date(Date.now() + VALID_MS);
  await insertResetLink(db, { sha256: hashResetSecret(secret), userId: user.id, expiresAt });
  return { url: `${publicUrl}${RESET}?link=${secret}`, expiresAt: expiresAt.toISOString() };
}

export function hashResetSecret(secret: string): string {
  return sha256Hex(secret);
}
