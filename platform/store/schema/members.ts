import { sql } from 'drizzle-orm';
import { bigserial, boolean, check, index, integer, pgTable, text, unique } from 'drizzle-orm/pg-core';
import { moment } from './moment.ts';
import { organizations } from './organizations.ts';

// The tables of Better Auth (https://www.better-auth.com/docs/concepts/database). Its code names the properties.

/** People who sign in to the dashboard. */
export const users = pgTable('users', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  email: text('email').notNull().unique(),
  emailVerified: boolean('email_verified').notNull().default(false),
  image: text('image'),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

const userId = () =>
  text('user_id')
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' });

const organizationId = () =>
  text('organization_id')
    .notNull()
    .references(() => organizations.id, { onDelete: 'cascade' });

/** One row per browser that is signed in. Its cookie holds the token, signed. */
export const sessions = pgTable(
  'sessions',
  {
    id: text('id').primaryKey(),
    userId: userId(),
    token: text('token').notNull().unique(),
    activeOrganizationId: text('active_organization_id'),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    expiresAt: moment('expires_at').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [index('sessions_of_user').on(table.userId)],
);

/** How a user signs in: a password (as scrypt hash), or an account of an OpenID provider. */
export const accounts = pgTable(
  'accounts',
  {
    id: text('id').primaryKey(),
    userId: userId(),
    accountId: text('account_id').notNull(),
    providerId: text('provider_id').notNull(),
    accessToken: text('access_token'),
    refreshToken: text('refresh_token'),
    idToken: text('id_token'),
    accessTokenExpiresAt: moment('access_token_expires_at'),
    refreshTokenExpiresAt: moment('refresh_token_expires_at'),
    scope: text('scope'),
    password: text('password'),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [
    index('accounts_of_user').on(table.userId),
    unique('accounts_once').on(table.providerId, table.accountId),
  ],
);

/** Short-lived secrets: challenges of passkeys and states of OpenID sign-ins. */
export const verifications = pgTable(
  'verifications',
  {
    id: text('id').primaryKey(),
    identifier: text('identifier').notNull(),
    value: text('value').notNull(),
    expiresAt: moment('expires_at').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [index('verifications_by_identifier').on(table.identifier)],
);

/** Links for the first administrator. The secret itself is never stored. */
export const setupLinks = pgTable('setup_links', {
  sha256: text('sha256').primaryKey(),
  expiresAt: moment('expires_at').notNull(),
});

/** Users of an organization with their role. */
export const members = pgTable(
  'members',
  {
    id: text('id').primaryKey(),
    organizationId: organizationId(),
    userId: userId(),
    role: text('role').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    unique('members_once').on(table.organizationId, table.userId),
    index('members_of_user').on(table.userId),
    check('members_role_known', sql`${table.role} in ('owner', 'developer', 'reviewer')`),
  ],
);

/** Invitations to an organization. The id is the link's secret. */
export const invitations = pgTable(
  'invitations',
  {
    id: text('id').primaryKey(),
    organizationId: organizationId(),
    email: text('email').notNull(),
    role: text('role'),
    status: text('status').notNull().default('pending'),
    inviterId: text('inviter_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    expiresAt: moment('expires_at').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('invitations_of_organization').on(table.organizationId),
    index('invitations_by_email').on(table.email),
  ],
);

/** Passkeys (WebAuthn credentials): only the public key. */
export const passkeys = pgTable(
  'passkeys',
  {
    id: text('id').primaryKey(),
    userId: userId(),
    name: text('name'),
    publicKey: text('public_key').notNull(),
    credentialID: text('credential_id').notNull().unique(),
    counter: integer('counter').notNull(),
    deviceType: text('device_type').notNull(),
    backedUp: boolean('backed_up').notNull(),
    transports: text('transports'),
    aaguid: text('aaguid'),
    createdAt: moment('created_at').defaultNow(),
  },
  (table) => [index('passkeys_of_user').on(table.userId)],
);

/** Who did what in an organization, in order. Rows are never changed. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    organizationId: organizationId(),
    at: moment('at').notNull().defaultNow(),
    /** A member, an API key, or the operator token. */
    actorKind: text('actor_kind', { enum: ['member', 'key', 'operator'] }).notNull(),
    actorId: text('actor_id').notNull(),
    /** The actor's name at that time. */
    actorName: text('actor_name').notNull(),
    action: text('action').notNull(),
    /** What it was done to, such as a job's id. */
    target: text('target').notNull(),
    detail: text('detail'),
  },
  (table) => [index('audit_log_of_organization').on(table.organizationId, table.id)],
);
