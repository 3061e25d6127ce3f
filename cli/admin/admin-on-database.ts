import { createKey, listKeys, revokeKey } from '../../platform/admin/api-keys.ts';
import { setOrganization } from '../../platform/admin/organizations.ts';
import { addProject, listProjects, removeProject, setProject } from '../../platform/admin/projects.ts';
import type { Database } from '../../platform/store/database.ts';
import type { Admin } from './admin.ts';

/** For a database that this process may open itself. */
export function adminOnDatabase(db: Database): Admin {
  return {
    createKey: (request) => createKey(db, request),
    listKeys: (filter) => listKeys(db, filter),
    revokeKey: (id) => revokeKey(db, id),
    setOrganization: (request) => setOrganization(db, request),
    addProject: (request) => addProject(db, request),
    setProject: (request) => setProject(db, request),
    removeProject: (id) => removeProject(db, id),
    listProjects: (filter) => listProjects(db, filter),
  };
}
