import pino from 'pino';
import { projectSettings } from '../../../platform/project-settings.ts';
import { type AgentJobRow, insertAgentJob, type NewAgentJob } from '../../../platform/store/agent-jobs.ts';
import { type Database, openDatabase } from '../../../platform/store/database.ts';
import { organizations } from '../../../platform/store/schema/organizations.ts';
import { projects } from '../../../platform/store/schema/projects.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';

export type AgentJobRig = {
  db: Database;
  newProject(): Promise<{ organizationId: string; projectId: string }>;
  /** An active job, of a project of its own unless one is given. */
  newJob(given?: Partial<NewAgentJob>): Promise<AgentJobRow>;
  stop(): Promise<void>;
};

/** A migrated database with projects and jobs as the API would make them. */
export async function startAgentJobRig(start: () => Promise<TestDatabase>): Promise<AgentJobRig> {
  const server = await start();
  const db = await openDatabase({ ...server, logger: pino({ level: 'silent' }) });
  let count = 0;

  async function newProject() {
    count += 1;
    const [organizationId, projectId, domain] = [`org_${count}`, `prj_${count}`, `docs${count}.example.com`];
    await db.insert(organizations).values({ id: organizationId, name: `Organization ${count}`, plan: 'free' });
    await db.insert(projects).values({ id: projectId, organizationId, domain, settings: projectSettings.parse({}) });
    return { organizationId, projectId };
  }

  return {
    db,
    newProject,
    async newJob(given = {}) {
      const owner = given.projectId === undefined ? await newProject() : { organizationId: '', projectId: '' };
      const source = { repository: 'https://git.example.com/docs.git', ref: 'main', model: 'a-model' };
      const job = { ...owner, ...source, prompt: 'Do it', at: new Date(), ...given };
      return db.transaction((tx) => insertAgentJob(tx, job));
    },
    async stop() {
      await db.close();
      await server.stop();
    },
  };
}
