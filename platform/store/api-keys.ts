import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { newId } from './ids.ts';
import type { Plan } from './organizations.ts';
import { apiKeys, organizations } from './schema/organizations.ts';

/** The organization of a request's key. */
export type Caller = { keyId: string; organizationId: string; plan: Plan };

export async function insertApiKey(
  db: Executor,
  key: { organizationId: string; name: string | null; prefix: string; sha256: string },
): Promise<{ id: string }> {
  const id = newId.apiKey();
  await db.insert(apiKeys).values({ id, ...key });
  return { id };
}

/** The caller of a key, found by the key's hash; undefined for an unknown or revoked one. */
export async function findCaller(db: Executor, sha256: string): Promise<Caller | undefined> {
  const [row] = await db
    .select({ keyId: apiKeys.id, organizationId: organizations.id, plan: organizations.plan })
    .from(apiKeys)
    .innerJoin(organizations, eq(organizations.id, apiKeys.organizationId))
    .where(and(eq(apiKeys.sha256, sha256), isNull(apiKeys.revokedAt)));
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
      createdAt: apiKeys.createdAt,
      revokedAt: apiKeys.revokedAt,
    })
    .from(apiKeys)
    .innerJoin(organizations, eq(organizations.id, apiKeys.organizationId))
    .where(organization === undefined ? undefined : eq(organizations.name, organization))
    .orderBy(desc(apiKeys.createdAt), apiKeys.id);
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
