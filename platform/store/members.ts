import { randomUUID } from 'node:crypto';
import { and, asc, desc, eq, gt, isNotNull, like } from 'drizzle-orm';
import type { Executor } from './database.ts';
import type { Plan } from './organizations.ts';
import {
  accounts,
  invitations,
  members,
  passkeys,
  sessions,
  setupLinks,
  users,
  verifications,
} from './schema/members.ts';
import { organizations } from './schema/organizations.ts';

export const ROLES = ['owner', 'developer', 'reviewer'] as const;
export type Role = (typeof ROLES)[number];

function isRole(text: string | null): text is Role {
  return ROLES.some((role) => role === text);
}

export type Membership = { organizationId: string; organization: string; plan: Plan; role: Role };

/** A user's organizations, by name. */
export async function listMemberships(db: Executor, userId: string): Promise<Membership[]> {
  const rows = await db
    .select({
      organizationId: organizations.id,
      organization: organizations.name,
      plan: organizations.plan,
      role: members.role,
    })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(eq(members.userId, userId))
    .orderBy(asc(organizations.name));
  return rows.flatMap(({ role, ...row }) => (isRole(role) ? [{ ...row, role }] : []));
}

export type MemberRow = { id: string; userId: string; name: string; email: string; role: string; createdAt: Date };

/** An organization's members, by name. */
export async function listMembers(db: Executor, organizationId: string): Promise<MemberRow[]> {
  return db
    .select({
      id: members.id,
      userId: members.userId,
      name: users.name,
      email: users.email,
      role: members.role,
      createdAt: members.createdAt,
    })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(eq(members.organizationId, organizationId))
    .orderBy(asc(users.name));
}

export async function insertMember(db: Executor, member: typeof members.$inferInsert): Promise<void> {
  await db.insert(members).values(member).onConflictDoNothing();
}

/** Whether anyone is a member of any organization. */
export async function hasMembers(db: Executor): Promise<boolean> {
  const [row] = await db.select({ id: members.id }).from(members).limit(1);
  return row !== undefined;
}

export type InvitationRow = typeof invitations.$inferSelect & { organization: string };

/** The newest open invitation with that id or email, of any organization. */
export async function findPendingInvitation(
  db: Executor,
  by: { id: string } | { email: string },
): Promise<InvitationRow | undefined> {
  const [row] = await db
    .select({ invitation: invitations, organization: organizations.name })
    .from(invitations)
    .innerJoin(organizations, eq(organizations.id, invitations.organizationId))
    .where(
      and(
        eq(invitations.status, 'pending'),
        gt(invitations.expiresAt, new Date()),
        'id' in by ? eq(invitations.id, by.id) : eq(invitations.email, by.email.toLowerCase()),
      ),
    )
    .orderBy(desc(invitations.createdAt))
    .limit(1);
  return row && { ...row.invitation, organization: row.organization };
}

/** An organization's open invitations, newest first. */
export async function listPendingInvitations(db: Executor, organizationId: string) {
  return db
    .select()
    .from(invitations)
    .where(
      and(
        eq(invitations.organizationId, organizationId),
        eq(invitations.status, 'pending'),
        gt(invitations.expiresAt, new Date()),
      ),
    )
    .orderBy(desc(invitations.createdAt));
}

/** A user's sessions that haven't expired, last used first. */
export async function listSessions(db: Executor, userId: string) {
  return db
    .select({
      id: sessions.id,
      ipAddress: sessions.ipAddress,
      userAgent: sessions.userAgent,
      createdAt: sessions.createdAt,
      updatedAt: sessions.updatedAt,
    })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, new Date())))
    .orderBy(desc(sessions.updatedAt))
    .limit(50);
}

/** Ends all sessions of a user. */
export async function deleteSessions(db: Executor, userId: string): Promise<void> {
  await db.delete(sessions).where(eq(sessions.userId, userId));
}

/** Ends one person's links for a new password. */
export async function deleteResetLinks(db: Executor, userId: string): Promise<void> {
  await db
    .delete(verifications)
    .where(and(like(verifications.identifier, 'reset-link:%'), eq(verifications.value, userId)));
}

export async function deletePasskeys(db: Executor, userId: string): Promise<void> {
  await db.delete(passkeys).where(eq(passkeys.userId, userId));
}

/** Notes that the session's person has just proved who they are. */
export async function renewProof(db: Executor, sessionId: string): Promise<void> {
  await db.update(sessions).set({ createdAt: new Date() }).where(eq(sessions.id, sessionId));
}

/** False for a person who only signs in by OpenID. */
export async function hasPassword(db: Executor, userId: string): Promise<boolean> {
  const [row] = await db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.userId, userId), isNotNull(accounts.password)));
  return row !== undefined;
}

export async function findUserByEmail(db: Executor, email: string) {
  const [row] = await db.select().from(users).where(eq(users.email, email.toLowerCase()));
  return row;
}

/** The owner of an organization with that id; without an id, who has been one for the longest time. */
export async function findOwner(db: Executor, organizationId: string, id?: string) {
  const [row] = await db
    .select({ id: users.id, email: users.email, organizationId: members.organizationId })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(
      and(
        eq(members.organizationId, organizationId),
        eq(members.role, 'owner'),
        id === undefined ? undefined : eq(users.id, id),
      ),
    )
    .orderBy(asc(members.createdAt))
    .limit(1);
  return row;
}

export async function listPasskeys(db: Executor, userId: string) {
  return db
    .select({ id: passkeys.id, name: passkeys.name, createdAt: passkeys.createdAt })
    .from(passkeys)
    .where(eq(passkeys.userId, userId))
    .orderBy(asc(passkeys.createdAt));
}

export async function insertSetupLink(db: Executor, link: { sha256: string; expiresAt: Date }): Promise<void> {
  await db.insert(setupLinks).values(link).onConflictDoNothing();
}

export async function isSetupLink(db: Executor, sha256: string): Promise<boolean> {
  const [row] = await db
    .select({ sha256: setupLinks.sha256 })
    .from(setupLinks)
    .where(and(eq(setupLinks.sha256, sha256), gt(setupLinks.expiresAt, new Date())));
  return row !== undefined;
}

/** Ends a link. False if it isn't valid, or another request has used it. */
export async function takeSetupLink(db: Executor, sha256: string): Promise<boolean> {
  const taken = await db
    .delete(setupLinks)
    .where(and(eq(setupLinks.sha256, sha256), gt(setupLinks.expiresAt, new Date())))
    .returning();
  return taken.length > 0;
}

export async function findUser(db: Executor, id: string) {
  const [row] = await db.select().from(users).where(eq(users.id, id));
  return row;
}

type ResetLinkRow = { sha256: string; userId: string; expiresAt: Date };

/** A link with which a user sets a new password. The secret itself is never stored. */
export async function insertResetLink(db: Executor, { sha256, userId, expiresAt }: ResetLinkRow): Promise<void> {
  await db.insert(verifications).values({ id: sha256, identifier: `reset-link:${sha256}`, value: userId, expiresAt });
}

const isResetLink = (sha256: string) =>
  and(eq(verifications.identifier, `reset-link:${sha256}`), gt(verifications.expiresAt, new Date()));

/** The user of a link that is valid. */
export async function findResetLink(db: Executor, sha256: string): Promise<string | undefined> {
  const [row] = await db.select({ userId: verifications.value }).from(verifications).where(isResetLink(sha256));
  return row?.userId;
}

/** Ends a link, and returns its user. Undefined if it isn't valid, or another request has used it. */
export async function takeResetLink(db: Executor, sha256: string): Promise<string | undefined> {
  const [row] = await db.delete(verifications).where(isResetLink(sha256)).returning({ userId: verifications.value });
  return row?.userId;
}

/** A token of Better Auth for a new password. */
export async function insertPasswordReset(
  db: Executor,
  { token, userId, expiresAt }: { token: string; userId: string; expiresAt: Date },
): Promise<void> {
  const identifier = `reset-password:${token}`;
  await db.insert(verifications).values({ id: randomUUID(), identifier, value: userId, expiresAt });
}
