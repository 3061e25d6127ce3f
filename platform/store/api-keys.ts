import { and, desc, eq, getTableColumns, gt, isNull, lte, or, sql } from 'drizzle-orm';
import type { Actor } from './audit-log.ts';
import type { Executor } from './database.ts';
import { newId } from './ids.ts';
import type { Plan } from './organizations.ts';
import { apiKeys } from './schema/api-keys.ts';
import { organizations } from './schema/organizations.ts';

/** Who asks: an API key or a member, for one organization. */
export type Caller = {
  organizationId: string;
  plan: Plan;
  actor: Actor;
  /** The only project that a key opens; undefined: all of the organization's. */
  projectId?: string | undefined;
};

/** Whether something of a project is the caller's. */
export function isOwn(caller: Caller, of: { organizationId: string; projectId: string }): boolean {
  const opens = caller.projectId === undefined || caller.projectId === of.projectId;
  return opens && caller.organizationId === of.organizationId;
}

/** A key's caller, and what restricts the key besides. */
type KeyCaller = { caller: Caller } & Pick<ApiKeyRow, 'lastUsedAt' | 'allowedAddresses' | 'readOnly'>;

export async function insertApiKey(
  db: Executor,
  key: Omit<typeof apiKeys.$inferInsert, 'id'>,
): Promise<{ id: string }> {
  const id = newId.apiKey();
  await db.insert(apiKeys).values({ id, ...key });
  return { id };
}

/** The caller of a key, found by the key's hash; undefined for an unknown, revoked or expired one. */
export async function findCaller(
  db: Executor,
  { sha256, at }: { sha256: string; at: Date },
): Promise<KeyCaller | undefined> {
  const [row] = await db
    .select({ key: apiKeys, plan: organizations.plan })
    .from(apiKeys)
    .innerJoin(organizations, eq(organizations.id, apiKeys.organizationId))
    .where(
      and(
        eq(apiKeys.sha256, sha256),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, at)),
      ),
    );
  if (row === undefined) return undefined;
  const { id, organizationId, projectId, name, prefix, ...restrictions } = row.key;
  const actor = { kind: 'key' as const, id, name: name ?? prefix };
  return { caller: { organizationId, plan: row.plan, actor, projectId: projectId ?? undefined }, ...restrictions };
}

/** Notes a key's use unless one was noted after `unlessAfter`: of simultaneous requests, only the first writes. */
export async function noteKeyUse(
  db: Executor,
  { id, at, unlessAfter }: { id: string; at: Date; unlessAfter: Date },
): Promise<void> {
  const isDue = or(isNull(apiKeys.lastUsedAt), lte(apiKeys.lastUsedAt, unlessAfter));
  await db
    .update(apiKeys)
    .set({ lastUsedAt: at })
    .where(and(eq(apiKeys.id, id), isDue));
}

export type ApiKeyRow = Omit<typeof apiKeys.$inferSelect, 'sha256'>;

const { sha256: _, ...shownColumns } = getTableColumns(apiKeys);

/** An organization's keys, newest first; never the key or its hash. */
export async function listOrganizationKeys(db: Executor, organizationId: string): Promise<ApiKeyRow[]> {
  return db
    .select(shownColumns)
    .from(apiKeys)
    .where(eq(apiKeys.organizationId, organizationId))
    .orderBy(desc(apiKeys.createdAt), apiKeys.id);
}

/** A key of that organization; undefined if it has none of that id. */
export async function findOrganizationKey(
  db: Executor,
  { organizationId, id }: { organizationId: string; id: string },
): Promise<ApiKeyRow | undefined> {
  const [row] = await db
    .select(shownColumns)
    .from(apiKeys)
    .where(and(eq(apiKeys.organizationId, organizationId), eq(apiKeys.id, id)));
  return row;
}

/** A key and its organization's name, also if it was revoked. */
export async function findKey(
  db: Executor,
  sha256: string,
): Promise<{ id: string; organizationId: string; organization: string; revokedAt: Date | null } | undefined> {
  const [row] = await db
    .select({
      id: apiKeys.id,
      organizationId: organizations.id,
      organization: organizations.name,
      revokedAt: apiKeys.revokedAt,
    })
    .from(apiKeys)
    .innerJoin(organizations, eq(organizations.id, apiKeys.organizationId))
    .where(eq(apiKeys.sha256, sha256));
  return row;
}

/** Keys with their organization, newest first; never the key or its hash. */
export async function listApiKeys(db: Executor, { organization }: { organization?: string | undefined } = {}) {
  return db
    .select({
      id: apiKeys.id,
      organization: organizations.name,
      plan: organizations.plan,
      name: apiKeys.name,
      prefix: apiKeys.prefix,
      readOnly: apiKeys.readOnly,
      project: apiKeys.projectId,
      createdAt: apiKeys.createdAt,
      createdBy: apiKeys.createdBy,
      lastUsedAt: apiKeys.lastUsedAt,
      revokedAt: apiKeys.revokedAt,
    })
    .from(apiKeys)
    .innerJoin(organizations, eq(organizations.id, apiKeys.organizationId))
    .where(organization === undefined ? undefined : eq(organizations.name, organization))
    .orderBy(desc(apiKeys.createdAt), apiKeys.id);
}

/** Lets a key end at that time, unless it ends before. */
export async function expireApiKey(db: Executor, { id, at }: { id: string; at: Date }): Promise<void> {
  await db
    .update(apiKeys)
    .set({ expiresAt: sql`least(${apiKeys.expiresAt}, ${at.toISOString()}::timestamptz)` })
    .where(eq(apiKeys.id, id));
}

/** Revokes a key; a second call keeps the first time. Undefined: no such key. */
export async function revokeApiKey(db: Executor, id: string): Promise<{ id: string; revokedAt: Date } | undefined> {
  const [row] = await db
    .update(apiKeys)
    .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, now())` })
    .where(eq(apiKeys.id, id))
    .returning({ id: apiKeys.id, revokedAt: apiKeys.revokedAt });
  return row?.revokedAt ? { id: row.id, revokedAt: row.revokedAt } : undefined;
}
