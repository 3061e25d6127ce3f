import type { Database } from '../store/database.ts';
import { type CreatedKey, type CreateKeyRequest, createKey, type KeyListing, listKeys, revokeKey } from './api-keys.ts';
import { type OrganizationListing, type SetOrganizationRequest, setOrganization } from './organizations.ts';
import type { AddProjectRequest, ProjectListing, ProjectWithContents, SetProjectRequest } from './project-requests.ts';
import { addProject, listProjects, removeProject, setProject, showProject } from './projects.ts';
import { createResetLink, type ResetLink, type ResetLinkRequest } from './reset-links.ts';

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

/** Works on a database that this process may open itself. `publicUrl` is the platform's, for links. */
export function adminOnDatabase(db: Database, publicUrl: string): Admin {
  return {
    createKey: (request) => createKey(db, request),
    listKeys: (filter) => listKeys(db, filter),
    revokeKey: (id) => revokeKey(db, id),
    createResetLink: (request) => createResetLink(db, { ...request, publicUrl }),
    setOrganization: (request) => setOrganization(db, request),
    addProject: (request) => addProject(db, request),
    setProject: (request) => setProject(db, request),
    showProject: (id) => showProject(db, id),
    removeProject: (id, options) => removeProject(db, id, options),
    listProjects: (filter) => listProjects(db, filter),
  };
}
