import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { parseCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { type SignedMember, secretOf } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { PATHS } from './layout.tsx';

const NAME = 'galley_new_key';
const CIPHER = 'aes-256-gcm';
const KEPT_MS = 60_000;
const IV_BYTES = 12;
const TAG_BYTES = 16;

function cookieOf({ publicUrl }: DashboardContext): CookieOptions {
  return { httpOnly: true, secure: publicUrl().startsWith('https:'), sameSite: 'strict', path: PATHS.keys };
}

/** Only this session in this organization opens it. */
function cipherKey(context: DashboardContext, { sessionId, caller }: SignedMember): Buffer {
  return Buffer.from(secretOf(context, `new key of ${sessionId} in ${caller.organizationId}`), 'base64url');
}

/**
 * Keeps a new key for the page that shows it: a form ends with a redirect, so that a reload makes no second key. In an
 * encrypted cookie, because a key must be in no address, log or table.
 */
export function keepNewKey(context: DashboardContext, response: Response, signed: SignedMember, apiKey: string): void {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, cipherKey(context, signed), iv);
  const text = Buffer.concat([cipher.update(`${Date.now() + KEPT_MS} ${apiKey}`), cipher.final()]);
  const value = Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
  response.cookie(NAME, value, { ...cookieOf(context), maxAge: KEPT_MS });
}

/** The key, once: the cookie ends with it. */
export function takeNewKey(
  context: DashboardContext,
  { request, response, signed }: { request: Request; response: Response; signed: SignedMember },
): string | undefined {
  const value = parseCookie(request.get('cookie') ?? '')[NAME];
  if (value === undefined) return undefined;
  response.cookie(NAME, '', { ...cookieOf(context), maxAge: 0 });
  const sealed = Buffer.from(value, 'base64url');
  const [textAt, iv] = [IV_BYTES + TAG_BYTES, sealed.subarray(0, IV_BYTES)];
  if (sealed.length <= textAt) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, cipherKey(context, signed), iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(sealed.subarray(IV_BYTES, textAt));
    const text = Buffer.concat([decipher.update(sealed.subarray(textAt)), decipher.final()]).toString();
    const [until = '', apiKey] = text.split(' ', 2);
    return Number(until) > Date.now() ? apiKey : undefined;
  } catch {
    // Of another session or organization.
    return undefined;
  }
}
