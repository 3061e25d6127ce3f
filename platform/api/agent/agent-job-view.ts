import type { AgentJob } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../web/http-error.ts';
import { type AgentJobRow, getAgentJob } from '../../store/agent-jobs.ts';
import { type Caller, isOwn } from '../../store/api-keys.ts';
import type { Database } from '../../store/database.ts';
import { getProject, type Project } from '../../store/projects.ts';
import { isStorable } from '../../store/storable-text.ts';

/** A row as the API shows it. */
export function agentJobView(row: AgentJobRow): AgentJob {
  return {
    id: row.id,
    status: row.status,
    source: { repository: withoutCredentials(row.repository), ref: row.ref },
    model: row.model,
    prLink: row.prLink,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    archivedAt: row.archivedAt?.toISOString() ?? null,
    error: row.error,
  };
}

/** An operator may have put a token into a repository's URL: more people read jobs than may push. */
export function withoutCredentials(repository: string): string {
  if (!URL.canParse(repository)) return repository;
  const url = new URL(repository);
  if (url.username === '' && url.password === '') return repository;
  url.password = '';
  // Over SSH the user is part of the URL and not secret.
  if (url.protocol !== 'ssh:') url.username = '';
  return url.href;
}

/**
 * The caller's project. Throws 404 if it doesn't exist or belongs to another organization: both look alike from
 * outside.
 */
export async function findOwnProject(db: Database, caller: Caller, projectId: unknown): Promise<Project> {
  const project = isFindable(projectId) ? await getProject(db, projectId) : undefined;
  if (project === undefined || !isOwn(caller, { organizationId: project.organizationId, projectId: project.id })) {
    throw new HttpError(404, 'There is no such project');
  }
  return project;
}

/** The job of the caller's project. Throws 404 for any other, including another project's of the same organization. */
export async function findOwnAgentJob(
  db: Database,
  caller: Caller,
  { projectId, id }: { projectId?: unknown; id?: unknown },
): Promise<AgentJobRow> {
  const row = isFindable(id) ? await getAgentJob(db, id) : undefined;
  if (row === undefined || !isOwn(caller, row) || row.projectId !== projectId) {
    throw new HttpError(404, 'There is no such agent job in this project');
  }
  return row;
}

function isFindable(id: unknown): id is string {
  return typeof id === 'string' && isStorable(id);
}
