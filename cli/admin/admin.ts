import type { CreatedKey, CreateKeyRequest, KeyListing } from '../../platform/admin/api-keys.ts';
import type { OrganizationListing, SetOrganizationRequest } from '../../platform/admin/organizations.ts';
import type { AddProjectRequest, ProjectListing, SetProjectRequest } from '../../platform/admin/project-requests.ts';

type OfOrganization = { organization?: string | undefined };

/** The actions of the commands `keys`, `organizations` and `projects`, wherever the platform's database is. */
export interface Admin {
  createKey(request: CreateKeyRequest): Promise<CreatedKey>;
  listKeys(filter: OfOrganization): Promise<KeyListing[]>;
  revokeKey(id: string): Promise<{ id: string; revokedAt: string }>;
  setOrganization(request: SetOrganizationRequest): Promise<OrganizationListing>;
  addProject(request: AddProjectRequest): Promise<ProjectListing>;
  setProject(request: SetProjectRequest): Promise<ProjectListing>;
  removeProject(id: string): Promise<ProjectListing>;
  listProjects(filter: OfOrganization): Promise<ProjectListing[]>;
}
