import { z } from 'zod';
import { HttpError } from '../../web/http-error.ts';
import type { Database } from '../store/database.ts';
import { updateOrganization } from '../store/organizations.ts';
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
  if (updated === undefined) {
    throw new HttpError(404, `There is no organization ${request.organization}: galley keys list shows their names`);
  }
  return { organization: updated.name, plan: updated.plan };
}
