import type { Logger } from 'pino';
import type { ObjectStore } from '../objects/object-store.ts';
import { type CollectedGarbage, collectGarbage } from '../retention/collect-garbage.ts';
import type { GarbageContext } from '../retention/garbage.ts';
import type { Database } from '../store/database.ts';
import { type CreateKeyRequest, createKey, listKeys, revokeKey } from './api-keys.ts';
import {
  removeOrganization,
  type SetOrganizationRequest,
  setOrganization,
  showOrganizations,
} from './organizations.ts';
import type { AddProjectRequest, MoveProjectRequest, SetProjectRequest } from './project-requests.ts';
import { addProject, listProjects, moveProject, removeProject, setProject, showProject } from './projects.ts';
import { createResetLink, type ResetLinkRequest } from './reset-links.ts';

type OfOrganization = { organization?: string | undefined };

/** The actions of the commands `keys`, `organizations`, `projects`, `members` and `gc`, wherever the platform's database is. */
export type Admin = ReturnType<typeof adminOnDatabase>;

type AdminOptions = Pick<GarbageContext, 'exportKeep'> & {
  /** The platform's, for links. */
  publicUrl: string;
  /** Opens the object store, which few actions need. */
  openObjects(): Promise<ObjectStore>;
  logger: Logger;
};

/** Works on a database that this process may open itself. */
export function adminOnDatabase(db: Database, { publicUrl, openObjects, exportKeep, logger }: AdminOptions) {
  return {
    createKey: (request: CreateKeyRequest) => createKey(db, request),
    listKeys: (filter: OfOrganization) => listKeys(db, filter),
    revokeKey: (id: string) => revokeKey(db, id),
    createResetLink: (request: ResetLinkRequest) => createResetLink(db, { ...request, publicUrl }),
    setOrganization: (request: SetOrganizationRequest) => setOrganization(db, request),
    listOrganizations: () => showOrganizations(db),
    removeOrganization: (name: string) => removeOrganization(db, name),
    addProject: (request: AddProjectRequest) => addProject(db, request),
    setProject: (request: SetProjectRequest) => setProject(db, request),
    showProject: (id: string) => showProject(db, id),
    moveProject: (id: string, request: MoveProjectRequest) => moveProject(db, id, request),
    removeProject: (id: string, options: { withContents: boolean }) => removeProject(db, id, options),
    listProjects: (filter: OfOrganization) => listProjects(db, filter),
    collectGarbage: async ({ dryRun }: { dryRun: boolean }): Promise<CollectedGarbage> => {
      const signal = new AbortController().signal;
      const objects = await openObjects();
      return await collectGarbage({ db, objects, exportKeep, logger, at: new Date(), dryRun, signal });
    },
  };
}
