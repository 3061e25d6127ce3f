import type { Database } from '../store/database.ts';
import type { Admin } from './admin.ts';
import { createKey, listKeys, revokeKey } from './api-keys.ts';
import { setOrganization } from './organizations.ts';
import { addProject, listProjects, removeProject, setProject, showProject } from './projects.ts';
import { createResetLink } from './reset-links.ts';

/** For a database that this process may open itself. `publicUrl` is the platform's, for links. */
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
