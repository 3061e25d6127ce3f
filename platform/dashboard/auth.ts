import { passkey } from '@better-auth/passkey';
import { betterAuth } from 'better-auth';
import { drizzleAdapter } from 'better-auth/adapters/drizzle';
import { APIError } from 'better-auth/api';
import { createAccessControl } from 'better-auth/plugins/access';
import { genericOAuth } from 'better-auth/plugins/generic-oauth';
import { oneTimeToken } from 'better-auth/plugins/one-time-token';
import { organization } from 'better-auth/plugins/organization';
import { defaultStatements } from 'better-auth/plugins/organization/access';
import type { Logger } from 'pino';
import { z } from 'zod';
import { recordAction } from '../store/audit-log.ts';
import type { Database } from '../store/database.ts';
import { findPendingInvitation, findUser, listMemberships } from '../store/members.ts';
import { accounts, invitations, members, passkeys, sessions, users, verifications } from '../store/schema/members.ts';
import { organizations } from '../store/schema/organizations.ts';
import {
  AUTH_PATH,
  authSecret,
  CLIENT_HEADER,
  EMAIL_NOT_VERIFIED,
  FRESH_MS,
  MAX_NAME,
  MIN_PASSWORD,
  OPENID,
  OPENID_FAILED,
  type OpenIdSettings,
} from './auth-settings.ts';

const HOUR_SECONDS = 3_600;

type AuthOptions = {
  db: Database;
  /** The platform's URL as browsers use it. */
  publicUrl: string;
  /** Sessions end when it changes, because their key derives from it. */
  operatorToken: string;
  openId: OpenIdSettings | undefined;
  /** Emails that may sign up now, besides those with an invitation. */
  admitted: ReadonlySet<string>;
  logger: Logger;
};

export type Auth = ReturnType<typeof createAuth>;

/** Owners manage members; what developers and reviewers may do is not Better Auth's business. */
const access = createAccessControl(defaultStatements);
const ROLE_RIGHTS = {
  owner: access.newRole({ member: ['create', 'update', 'delete'], invitation: ['create', 'cancel'] }),
  developer: access.newRole({}),
  reviewer: access.newRole({}),
};

/** Better Auth over the platform's tables (docs/decisions/32). */
export function createAuth({ db, publicUrl, operatorToken, openId, admitted, logger }: AuthOptions) {
  const isHttps = publicUrl.startsWith('https:');
  return betterAuth({
    appName: 'Galley',
    baseURL: publicUrl,
    basePath: AUTH_PATH,
    secret: authSecret(operatorToken),
    telemetry: { enabled: false },
    onAPIError: { errorURL: OPENID_FAILED },
    logger: { level: 'warn', log: (_level, message) => logger.debug({ part: 'auth' }, message) },
    database: drizzleAdapter(db, { provider: 'pg', schema: TABLES }),
    emailAndPassword: { enabled: true, minPasswordLength: MIN_PASSWORD, maxPasswordLength: 200 },
    session: {
      // Idle for 8 hours; each use extends it, at most every 10 minutes.
      expiresIn: 8 * HOUR_SECONDS,
      updateAge: HOUR_SECONDS / 6,
      // Adding a passkey needs a session that is fresh.
      freshAge: FRESH_MS / 1000,
      cookieCache: { enabled: false },
    },
    user: { validateUserInfo: ({ source }) => rejectUnverified(source.oauth?.profile) },
    // No provider is trusted: only an email that it calls verified leads to an account. Accounts themselves exist only by
    // an owner's invitation of that email.
    account: { accountLinking: { enabled: true, requireLocalEmailVerified: false } },
    // A limit by address would lock out everyone behind it, and these routes leave nothing to guess.
    rateLimit: { enabled: false },
    advanced: {
      // Over HTTPS, no other host of the domain can set the cookies.
      cookiePrefix: isHttps ? '__Host-galley_platform' : 'galley_platform',
      useSecureCookies: false,
      defaultCookieAttributes: { secure: isHttps },
      cookies: { session_token: { attributes: { sameSite: 'strict' } } },
      ipAddress: { ipAddressHeaders: [CLIENT_HEADER] },
    },
    databaseHooks: {
      session: {
        create: {
          after: async ({ userId, ipAddress }) => recordSignIn(db, { userId, address: ipAddress ?? '' }),
        },
      },
      user: {
        create: {
          before: async ({ email, name }) => {
            if (admitted.has(email) || (await findPendingInvitation(db, { email })) !== undefined) {
              // An OpenID provider's name may be of any length.
              return { data: { name: [...name].slice(0, MAX_NAME).join('') } };
            }
            throw new APIError('FORBIDDEN', { code: 'NO_INVITATION', message: 'You need an invitation to sign up' });
          },
        },
      },
    },
    plugins: [
      organization({
        allowUserToCreateOrganization: false,
        ac: access,
        roles: ROLE_RIGHTS,
        membershipLimit: 1_000,
        cancelPendingInvitationsOnReInvite: true,
        invitationExpiresIn: 7 * 24 * HOUR_SECONDS,
      }),
      passkey({ rpName: 'Galley' }),
      oneTimeToken({ storeToken: 'plain' }),
      ...(openId === undefined ? [] : [openIdPlugin(openId)]),
    ],
  });
}

/** Some providers send booleans as strings. */
const unverified = z.object({ email_verified: z.literal([false, 'false']) });

/**
 * Rejects a provider's identity if its claims say that the email is unverified: it could be anyone's. A provider may omit
 * the claim; then the identity leads to no account that exists.
 */
function rejectUnverified(claims: Record<string, unknown> | undefined): { error: string } | undefined {
  return unverified.safeParse(claims).success ? { error: EMAIL_NOT_VERIFIED } : undefined;
}

/** Records it in each of the person's organizations, because a session is for all of them. */
async function recordSignIn(db: Database, { userId, address }: { userId: string; address: string }): Promise<void> {
  const user = await findUser(db, userId);
  if (user === undefined) return;
  const actor = { kind: 'member' as const, id: user.id, name: user.email };
  for (const { organizationId } of await listMemberships(db, userId)) {
    const entry = { organizationId, actor, action: 'session.sign-in', target: user.email };
    await recordAction(db, { ...entry, detail: address === '' ? undefined : `from ${address}` });
  }
}

const TABLES = {
  user: users,
  session: sessions,
  account: accounts,
  verification: verifications,
  organization: organizations,
  member: members,
  invitation: invitations,
  passkey: passkeys,
};

function openIdPlugin({ issuer, clientId, clientSecret }: OpenIdSettings) {
  const discoveryUrl = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const scopes = ['openid', 'email', 'profile'];
  return genericOAuth({ config: [{ providerId: OPENID, clientId, clientSecret, discoveryUrl, scopes, pkce: true }] });
}
