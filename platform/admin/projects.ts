import { HttpError } from '../../contract/http-error.ts';
import { parseInput } from '../parse-input.ts';
import { mergeSettings } from '../project-settings.ts';
import type { Database } from '../store/database.ts';
import { lockUntilCommit } from '../store/locks.ts';
import { findOrganization } from '../store/organizations.ts';
import {
  deleteProject,
  findProjectByDomain,
  insertProject,
  listProjectRows,
  type Project,
  updateProject,
} from '../store/projects.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../store/unique-violation.ts';
import {
  type AddProjectRequest,
  addProjectRequest,
  type ProjectListing,
  type SetProjectRequest,
  setProjectRequest,
} from './project-requests.ts';

/** Adds a project. Throws an `HttpError`: 400 (wrong field), 404 (no such organization), 409 (id or domain taken). */
export async function addProject(db: Database, request: AddProjectRequest): Promise<ProjectListing> {
  const wanted = parseInput(addProjectRequest, request);
  const organization = await findOrganization(db, wanted.organization);
  if (organization === undefined) {
    throw new HttpError(404, `There is no organization ${wanted.organization}: galley keys create makes one`);
  }
  const project = await insertProject(db, {
    id: wanted.project,
    organizationId: organization.id,
    domain: wanted.domain,
    origin: wanted.origin ?? null,
    repository: wanted.repository ?? null,
    ref: wanted.ref ?? null,
    settings: mergeSettings({}, wanted.settings),
  });
  if (project === undefined) {
    throw new HttpError(409, `The project ${wanted.project} or the domain ${wanted.domain} is there already`);
  }
  return toListing(project, organization.name);
}

/** Changes what is named. Throws an `HttpError`: 400 (wrong field), 404 (no such project), 409 (domain taken). */
export async function setProject(db: Database, request: SetProjectRequest): Promise<ProjectListing> {
  const { project: id, organization, settings, ...columns } = parseInput(setProjectRequest, request);
  const change = db.transaction(async (tx) => {
    // Settings are read, merged and written: of two changes at once neither may be lost.
    await lockUntilCommit(tx, `project:${id}`);
    const [listed] = await listProjectRows(tx, { projectId: id });
    if (listed === undefined || (organization ?? listed.organization) !== listed.organization) {
      const whose = organization ? ` of ${organization}` : '';
      throw new HttpError(
        404,
        `There is no project ${id}${whose}: galley projects list names those there are. galley up makes one for each ` +
          'site of galley.yaml when it starts',
      );
    }
    const { project: before } = listed;
    const domain = columns.domain ?? before.domain;
    const other = await findProjectByDomain(tx, { organizationId: before.organizationId, domain });
    if (other !== undefined && other.id !== id) throw new HttpError(409, `The domain ${domain} is that of ${other.id}`);
    const after = await updateProject(tx, id, {
      ...columns,
      settings: mergeSettings(before.settings, settings),
    });
    if (after === undefined) throw new HttpError(404, `There is no project ${id}`);
    return toListing(after, listed.organization);
  });
  return change.catch((error: unknown) => {
    // Another project took the domain since it was looked for.
    if (isUniqueViolation(error)) throw new HttpError(409, `The domain ${columns.domain ?? ''} is another project's`);
    throw error;
  });
}

/**
 * Removes a project that was never used. Throws an `HttpError`: 404 (no such project), 409 (it has jobs: bundles and pull
 * requests of theirs may be in use).
 */
export async function removeProject(db: Database, id: string): Promise<ProjectListing> {
  const [listed] = await listProjectRows(db, { projectId: id });
  const removed = await deleteProject(db, id).catch((error: unknown) => {
    if (isForeignKeyViolation(error))
      throw new HttpError(409, `The project ${id} has exports or agent jobs, so it can't be removed`);
    throw error;
  });
  if (listed === undefined || !removed) {
    throw new HttpError(404, `There is no project ${id}: galley projects list names those there are`);
  }
  return toListing(listed.project, listed.organization);
}

/** All projects, or an organization's, by organization and domain. */
export async function listProjects(
  db: Database,
  filter: { organization?: string | undefined } = {},
): Promise<ProjectListing[]> {
  return (await listProjectRows(db, filter)).map((row) => toListing(row.project, row.organization));
}

function toListing(project: Project, organization: string): ProjectListing {
  const { webhookSecret, ...settings } = project.settings;
  return {
    project: project.id,
    organization,
    domain: project.domain,
    origin: project.origin,
    repository: project.repository,
    ref: project.ref,
    settings: { ...settings, webhookSecretSet: webhookSecret !== null },
  };
}
