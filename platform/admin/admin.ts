import type { Database } from '../store/database.ts';
import { type CreateKeyRequest, createKey, listKeys, revokeKey } from './api-keys.ts';
import { type SetOrganizationRequest, setOrganization } from './organizations.ts';
import type { AddProjectRequest, SetProjectRequest } from './project-requests.ts';
import { addProject, listProjects, removeProject, setProject, showProject } from './projects.ts';
import { createResetLink, type ResetLinkRequest } from './reset-links.ts';

type OfOrganization = { organization?: string | undefined };

/** The actions of the commands `keys`, `organizations`, `projects` and `members`, wherever the platform's database is. */
export type Admin = ReturnType<typeof adminOnDatabase>;

/** Works on a database that this process may open itself. `publicUrl` is the platform's, for links. */
export function adminOnDatabase(db: Database, publicUrl: string) {
  return {
    createKey: (request: CreateKeyRequest) => createKey(db, request),
    listKeys: (filter: OfOrganization) => listKeys(db, filter),
    revokeKey: (id: string) => revokeKey(db, id),
    createResetLink: (request: ResetLinkRequest) => createResetLink(db, { ...request, publicUrl }),
    setOrganization: (request: SetOrganizationRequest) => setOrganization(db, request),
    addProject: (request: AddProjectRequest) => addProject(db, request),
    setProject: (request: SetProjectRequest) => setProject(db, request),
    showProject: (id: string) => showProject(db, id),
    removeProject: (id: string, options: { withContents: boolean }) => removeProject(db, id, options),
    listProjects: (filter: OfOrganization) => listProjects(db, filter),
  };
}
