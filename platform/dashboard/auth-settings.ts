import { createHmac } from 'node:crypto';

/** Better Auth's own routes that are served: passkeys and the return from an OpenID provider. */
export const AUTH_PATH = '/ui/auth';

/** The id of the OpenID provider that the variables name. */
export const OPENID = 'openid';

/** Where a failed sign-in by OpenID ends. */
export const OPENID_FAILED = '/ui/sign-in?reason=openid';

/** The error in that URL if the provider says that the email is unverified. */
export const EMAIL_NOT_VERIFIED = 'email_not_verified';

/** The error if there is an account with the email, and the provider doesn't say that the email is verified. */
export const NOT_LINKED = 'account_not_linked';

export const MIN_PASSWORD = 12;

/** The most characters of a person's name. */
export const MAX_NAME = 100;

export type OpenIdSettings = { issuer: string; clientId: string; clientSecret: string };

/** Tells Better Auth the client's address. */
export const CLIENT_HEADER = 'x-galley-client';

/** A passkey can be added this long after the last proof of who the person is. */
export const FRESH_MS = 10 * 60_000;

/** The secret that signs cookies and forms. */
export function authSecret(operatorToken: string): string {
  return createHmac('sha256', operatorToken).update('galley: sessions of the dashboard').digest('base64url');
}
