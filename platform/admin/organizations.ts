import { z } from 'zod';
import { HttpError } from '../../web/http-error.ts';
import type { Database } from '../store/database.ts';
import { deleteOrganization, findOrganization, listOrganizations, updateOrganization } from '../store/organizations.ts';
import { listOrganizationProjects } from '../store/projects.ts';
import { isUniqueViolation } from '../store/query-error.ts';
import { label } from './text.ts';

export const plan = z.enum(['enterprise', 'free']);

/** `name`: the new one. */
export const setOrganizationRequest = z
  .strictObject({ organization: label, plan: plan.optional(), name: label.optional() })
  .refine((change) => change.plan !== undefined || change.name !== undefined, 'expected plan or name');
export type SetOrganizationRequest = z.infer<typeof setOrganizationRequest>;

export const organizationListing = z.object({ organization: z.string(), plan });
export type OrganizationListing = z.infer<typeof organizationListing>;

/**
 * Changes an organization's plan, for all its keys and projects, or its name. Throws an `HttpError`: 404 for an unknown
 * name, 409 if another organization has the new one.
 */
export async function setOrganization(db: Database, request: SetOrganizationRequest): Promise<OrganizationListing> {
  const { organization, ...change } = request;
  const updated = await updateOrganization(db, organization, change).catch((error: unknown) => {
    if (isUniqueViolation(error)) throw new HttpError(409, `name: there is another organization ${change.name}`);
    throw error;
  });
  if (updated === undefined) throw unknownOrganization(organization);
  return { organization: updated.name, plan: updated.plan };
}

export function unknownOrganization(name: string): HttpError {
  return new HttpError(404, `There is no organization ${name}: galley organizations list names those there are`);
}

/** All organizations, oldest first. */
export async function showOrganizations(db: Database): Promise<OrganizationListing[]> {
  return (await listOrganizations(db)).map(({ name, plan }) => ({ organization: name, plan }));
}

/**
 * Removes an organization with its keys, members and audit log; its members' accounts stay. Throws an `HttpError`: 404 for an
 * unknown name, 409 if it has projects.
 */
export async function removeOrganization(db: Database, name: string): Promise<OrganizationListing> {
  return db.transaction(async (tx) => {
    const found = await findOrganization(tx, name);
    if (found === undefined) throw unknownOrganization(name);
    const projects = (await listOrganizationProjects(tx, found.id)).map(({ id }) => id);
    if (projects.length > 0) {
      const what = `${projects.slice(0, 5).join(', ')}${projects.length > 5 ? `, and ${projects.length - 5} more` : ''}`;
      throw new HttpError(
        409,
        `${name} has projects (${what}): move them with galley projects move ID --organization NAME, or remove them`,
      );
    }
    await deleteOrganization(tx, found.id);
    return { organization: found.name, plan: found.plan };
  });
}
