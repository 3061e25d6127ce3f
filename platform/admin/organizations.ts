import { z } from 'zod';
import { HttpError } from '../../web/http-error.ts';
import type { Database } from '../store/database.ts';
import { updatePlan } from '../store/organizations.ts';
import { label } from './text.ts';

export const plan = z.enum(['enterprise', 'free']);

export const setOrganizationRequest = z.strictObject({ organization: label, plan });
export type SetOrganizationRequest = z.infer<typeof setOrganizationRequest>;

export const organizationListing = z.object({ organization: z.string(), plan });
export type OrganizationListing = z.infer<typeof organizationListing>;

/** Changes an organization's plan, for all its keys and projects. Throws an `HttpError` 404 for an unknown name. */
export async function setOrganization(db: Database, request: SetOrganizationRequest): Promise<OrganizationListing> {
  const updated = await updatePlan(db, { name: request.organization, plan: request.plan });
  if (updated === undefined) {
    throw new HttpError(404, `There is no organization ${request.organization}: galley keys list shows their names`);
  }
  return { organization: updated.name, plan: updated.plan };
}
