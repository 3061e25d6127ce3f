import { eq } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { newId } from './ids.ts';
import { organizations } from './schema/organizations.ts';

export type OrganizationRow = typeof organizations.$inferSelect;
export type Plan = OrganizationRow['plan'];

export async function findOrganization(db: Executor, name: string): Promise<OrganizationRow | undefined> {
  const [row] = await db.select().from(organizations).where(eq(organizations.name, name));
  return row;
}

/** The organization of that name, made where it is missing; a plan that is given becomes its plan. */
export async function ensureOrganization(
  db: Executor,
  { name, plan, defaultPlan }: { name: string; plan: Plan | undefined; defaultPlan: Plan },
): Promise<OrganizationRow> {
  const [row] = await db
    .insert(organizations)
    .values({ id: newId.organization(), name, plan: plan ?? defaultPlan })
    // Without a plan the update changes nothing: it is there for the row to be returned.
    .onConflictDoUpdate({ target: organizations.name, set: plan === undefined ? { name } : { plan } })
    .returning();
  if (row === undefined) throw new Error('The database returned no row for the organization');
  return row;
}
