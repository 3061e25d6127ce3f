import { and, asc, desc, eq, gt, lt, or } from 'drizzle-orm';
import type { AgentJobStatus } from '../../contract/admin-api.ts';
import type { Executor, Transaction } from './database.ts';
import { newId } from './ids.ts';
import { agentJobs, agentRuns } from './schema/agent-jobs.ts';

export type AgentJobRow = typeof agentJobs.$inferSelect;

export type NewAgentJob = {
  organizationId: string;
  projectId: string;
  repository: string;
  /** The branch to start from; null: the remote's default. */
  ref: string | null;
  model: string;
  prompt: string;
  at: Date;
};

/** Inserts an active job with its first run. */
export async function insertAgentJob(tx: Transaction, { prompt, at, ...job }: NewAgentJob): Promise<AgentJobRow> {
  const id = newId.agentJob();
  const [row] = await tx
    .insert(agentJobs)
    .values({ ...job, id, branch: `galley/${id}`, createdAt: at, updatedAt: at })
    .returning();
  if (row === undefined) throw new Error('The database returned no row for the new agent job');
  await tx.insert(agentRuns).values({ jobId: id, run: row.run, promptJson: JSON.stringify(prompt), createdAt: at });
  return row;
}

/** The job of that id, for any owner. */
export async function getAgentJob(db: Executor, jobId: string): Promise<AgentJobRow | undefined> {
  const [row] = await db.select().from(agentJobs).where(eq(agentJobs.id, jobId));
  return row;
}

export type AgentJobQuery = {
  /** Undefined: those of all its projects. */
  projectId?: string | undefined;
  organizationId?: string | undefined;
  status?: AgentJobStatus | undefined;
  /** Selects only jobs older than the one of this sequence. */
  beforeSequence?: number | undefined;
  limit: number;
};

/** The jobs of a project, or of an organization, newest first. */
export async function listAgentJobs(
  db: Executor,
  filter: AgentJobQuery & ({ projectId: string } | { organizationId: string }),
): Promise<AgentJobRow[]> {
  const { organizationId, projectId, status, beforeSequence } = filter;
  return db
    .select()
    .from(agentJobs)
    .where(
      and(
        organizationId === undefined ? undefined : eq(agentJobs.organizationId, organizationId),
        projectId === undefined ? undefined : eq(agentJobs.projectId, projectId),
        status === undefined ? undefined : eq(agentJobs.status, status),
        beforeSequence === undefined ? undefined : lt(agentJobs.sequence, beforeSequence),
      ),
    )
    .orderBy(desc(agentJobs.sequence))
    .limit(filter.limit);
}

/** An active job, and whether the workflow of its current run has begun. */
export type UnsettledAgentJob = Pick<AgentJobRow, 'id' | 'projectId' | 'sequence' | 'run' | 'cancelRequestedAt'> & {
  begun: boolean;
};

/**
 * Active jobs unchanged since `untouchedSince`, or with a time after `latest` (from a wrong clock), in order of
 * creation, paged: the reconciler's work.
 */
export async function listUnsettledAgentJobs(
  db: Executor,
  page: { untouchedSince: Date; latest: Date; afterSequence: number; limit: number },
): Promise<UnsettledAgentJob[]> {
  const rows = await db
    .select({ job: agentJobs, startedAt: agentRuns.startedAt })
    .from(agentJobs)
    .innerJoin(agentRuns, and(eq(agentRuns.jobId, agentJobs.id), eq(agentRuns.run, agentJobs.run)))
    .where(
      and(
        eq(agentJobs.status, 'active'),
        or(lt(agentJobs.updatedAt, page.untouchedSince), gt(agentJobs.updatedAt, page.latest)),
        gt(agentJobs.sequence, page.afterSequence),
      ),
    )
    .orderBy(asc(agentJobs.sequence))
    .limit(page.limit);
  return rows.map(({ job: { id, projectId, sequence, run, cancelRequestedAt }, startedAt }) => {
    return { id, projectId, sequence, run, cancelRequestedAt, begun: startedAt !== null };
  });
}
