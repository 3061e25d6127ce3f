import { asc, eq } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { newId } from './ids.ts';
import { apiKeys } from './schema/api-keys.ts';
import { organizations } from './schema/organizations.ts';
import { idempotencyKeys } from './schema/requests.ts';

type OrganizationRow = typeof organizations.$inferSelect;
export type Plan = OrganizationRow['plan'];

export async function findOrganization(db: Executor, name: string): Promise<OrganizationRow | undefined> {
  const [row] = await db.select().from(organizations).where(eq(organizations.name, name));
  return row;
}

/** Finds or creates the organization of that name. An existing one keeps its plan. */
export async function ensureOrganization(
  db: Executor,
  { name, plan }: { name: string; plan: Plan },
): Promise<OrganizationRow> {
  const [row] = await db
    .insert(organizations)
    .values({ id: newId.organization(), name, plan })
    // Changes nothing, but only an update makes the statement return the existing row.
    .onConflictDoUpdate({ target: organizations.name, set: { name } })
    .returning();
  if (row === undefined) throw new Error('The database returned no row for the organization');
  return row;
}

/** Changes an organization's name or plan. Undefined if there is none of that name. Throws if the new name is taken. */
export async function updateOrganization(
  db: Executor,
  name: string,
  change: { name?: string | undefined; plan?: Plan | undefined },
): Promise<OrganizationRow | undefined> {
  const [row] = await db.update(organizations).set(change).where(eq(organizations.name, name)).returning();
  return row;
}

/** Deletes an organization without projects; with it, its keys, members and audit log. Throws if it got a project meanwhile. */
export async function deleteOrganization(db: Executor, id: string): Promise<void> {
  await db.delete(idempotencyKeys).where(eq(idempotencyKeys.organizationId, id));
  await db.delete(apiKeys).where(eq(apiKeys.organizationId, id));
  await db.delete(organizations).where(eq(organizations.id, id));
}

/** All organizations, oldest first. */
export async function listOrganizations(db: Executor): Promise<OrganizationRow[]> {
  return db.select().from(organizations).orderBy(asc(organizations.createdAt));
}
