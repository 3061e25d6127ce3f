import { randomBytes } from 'node:crypto';
import { projectSettings } from '../../platform/project-settings.ts';
import { addAgentMessage } from '../../platform/store/agent-job-transitions.ts';
import { type AgentJobRow, insertAgentJob } from '../../platform/store/agent-jobs.ts';
import type { Database } from '../../platform/store/database.ts';
import { ensureOrganization } from '../../platform/store/organizations.ts';
import { insertProject } from '../../platform/store/projects.ts';

export type NewTestJob = { repository: string; ref?: string | null; prompt: string; settings?: object };

/** Adds an agent job of a new project, as the API does, without starting it. */
export async function addTestJob(
  db: Database,
  { repository, ref = null, prompt, settings = {} }: NewTestJob,
): Promise<AgentJobRow> {
  const organization = await ensureOrganization(db, { name: 'test', plan: 'enterprise' });
  const project = await insertProject(db, {
    id: `prj_${randomBytes(8).toString('hex')}`,
    organizationId: organization.id,
    domain: `${randomBytes(6).toString('hex')}.example`,
    origin: null,
    repository,
    ref,
    settings: projectSettings.parse(settings),
  });
  if (project === undefined) throw new Error('The project could not be added');
  const { organizationId, id: projectId } = project;
  const job = { organizationId, projectId, repository, ref, model: 'script', prompt, at: new Date() };
  return db.transaction((tx) => insertAgentJob(tx, job));
}

/** Adds a message to a job that has ended, as the API does. */
export async function addTestMessage(db: Database, jobId: string, prompt: string): Promise<void> {
  const added = await addAgentMessage(db, { jobId, prompt, at: new Date() });
  if (added?.accepted !== true) throw new Error(`${jobId} accepts no message: it is ${added?.job.status}`);
}
