import type { CreatedKey, CreateKeyRequest, KeyListing } from './api-keys.ts';
import type { OrganizationListing, SetOrganizationRequest } from './organizations.ts';
import type { AddProjectRequest, ProjectListing, ProjectWithContents, SetProjectRequest } from './project-requests.ts';
import type { ResetLink, ResetLinkRequest } from './reset-links.ts';

type OfOrganization = { organization?: string | undefined };

/** The actions of the commands `keys`, `organizations`, `projects` and `members`, wherever the platform's database is. */
export interface Admin {
  createKey(request: CreateKeyRequest): Promise<CreatedKey>;
  listKeys(filter: OfOrganization): Promise<KeyListing[]>;
  revokeKey(id: string): Promise<{ id: string; revokedAt: string }>;
  createResetLink(request: ResetLinkRequest): Promise<ResetLink>;
  setOrganization(request: SetOrganizationRequest): Promise<OrganizationListing>;
  addProject(request: AddProjectRequest): Promise<ProjectListing>;
  setProject(request: SetProjectRequest): Promise<ProjectListing>;
  showProject(id: string): Promise<ProjectWithContents>;
  removeProject(id: string, options: { withContents: boolean }): Promise<ProjectWithContents>;
  listProjects(filter: OfOrganization): Promise<ProjectListing[]>;
}
