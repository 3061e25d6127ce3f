import { HttpError } from '../../web/http-error.ts';
import { parseInput } from '../parse-input.ts';
import { mergeSettings } from '../project-settings.ts';
import { type Actor, recordAction } from '../store/audit-log.ts';
import type { Database, Executor } from '../store/database.ts';
import { lockUntilCommit } from '../store/locks.ts';
import { findOrganization } from '../store/organizations.ts';
import { findProjectByDomain, insertProject, listProjectRows, type Project, updateProject } from '../store/projects.ts';
import { isUniqueViolation } from '../store/query-error.ts';
import {
  deleteProjectWithJobs,
  giveProjectTo,
  lockProject,
  type ProjectContents,
  readProjectContents,
} from '../store/remove-project.ts';
import { isStorable } from '../store/storable-text.ts';
import { unknownOrganization } from './organizations.ts';
import {
  type AddProjectRequest,
  addProjectRequest,
  type MoveProjectRequest,
  type ProjectListing,
  type ProjectWithContents,
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
    const { domain } = wanted;
    const other = await findProjectByDomain(db, { organizationId: organization.id, domain });
    throw new HttpError(
      409,
      other === undefined
        ? `There is a project ${wanted.project} already: choose another id`
        : `${organization.name} has a project of ${domain} already: ${other.id}`,
    );
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

/** A project with what would be deleted with it. Throws an `HttpError`: 404 (no such project). */
export async function showProject(db: Database, id: string): Promise<ProjectWithContents> {
  const { project, organization } = await findListed(db, id);
  return { ...toListing(project, organization), contents: await readProjectContents(db, id) };
}

/**
 * Removes a project, with `withContents` also its ended jobs, in one transaction. `galley gc` deletes their stored
 * objects. Throws an `HttpError`: 404 (no such project), 409 (it has jobs and `withContents` is false, or a job runs).
 */
export async function removeProject(
  db: Database,
  id: string,
  { withContents = false, actor = OPERATOR }: { withContents?: boolean; actor?: Actor } = {},
): Promise<ProjectWithContents> {
  return db.transaction(async (tx) => {
    await lockProject(tx, (await findListed(tx, id)).project);
    const { project, organization } = await findListed(tx, id);
    const contents = await readProjectContents(tx, id);
    refuseRunning(id, contents, 'removed');
    if (!withContents && contents.exports + contents.agentJobs > 0) {
      const what = `${contents.exports} exports and ${contents.agentJobs} agent jobs`;
      throw new HttpError(
        409,
        `The project ${id} has ${what}: galley projects remove ${id} --yes deletes them with it`,
      );
    }
    await deleteProjectWithJobs(tx, id);
    await recordAction(tx, {
      organizationId: project.organizationId,
      actor,
      ...{ action: 'project.remove', target: id, detail: project.domain },
    });
    return { ...toListing(project, organization), contents };
  });
}

/**
 * Moves a project with its jobs to another organization. The keys for this project alone end, because they are the old
 * organization's. Throws an `HttpError`: 404 (no such project or organization), 409 (a job runs, or the domain is taken there).
 */
export async function moveProject(
  db: Database,
  id: string,
  { organization: name, actor = OPERATOR }: MoveProjectRequest & { actor?: Actor },
): Promise<ProjectListing> {
  return db.transaction(async (tx) => {
    await lockProject(tx, (await findListed(tx, id)).project);
    const { project, organization } = await findListed(tx, id);
    const target = await findOrganization(tx, name);
    if (target === undefined) throw unknownOrganization(name);
    if (target.id === project.organizationId) return toListing(project, organization);
    refuseRunning(id, await readProjectContents(tx, id), 'moved');
    const other = await findProjectByDomain(tx, { organizationId: target.id, domain: project.domain });
    if (other !== undefined)
      throw new HttpError(409, `${name} has a project of ${project.domain} already: ${other.id}`);
    await giveProjectTo(tx, id, target.id);
    for (const organizationId of [project.organizationId, target.id]) {
      await recordAction(tx, {
        organizationId,
        actor,
        ...{ action: 'project.move', target: id, detail: `from ${organization} to ${name}` },
      });
    }
    return toListing(project, name);
  });
}

const OPERATOR: Actor = { kind: 'operator', id: 'operator', name: 'operator' };

function refuseRunning(
  id: string,
  { runningExports, runningAgentJobs }: ProjectContents,
  what: 'removed' | 'moved',
): void {
  const cancels = [
    ...runningExports.map((job) => `galley exports cancel ${job}`),
    ...runningAgentJobs.map((job) => `galley agents cancel ${job} --project ${id}`),
  ];
  if (cancels.length === 0) return;
  const running = [...runningExports, ...runningAgentJobs].join(', ');
  throw new HttpError(
    409,
    `The project ${id} can't be ${what} while a job runs (${running}): wait for its end, or cancel it with ${cancels.join(', ')}`,
  );
}

async function findListed(db: Executor, id: string): Promise<{ project: Project; organization: string }> {
  const [listed] = isStorable(id) ? await listProjectRows(db, { projectId: id }) : [];
  if (listed === undefined) {
    throw new HttpError(404, `There is no project ${id}: galley projects list names those there are`);
  }
  return listed;
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
