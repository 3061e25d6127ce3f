import type { AgentJobRow } from '../../store/agent-jobs.ts';
import type { Caller } from '../../store/api-keys.ts';
import { recordAction } from '../../store/audit-log.ts';
import type { Transaction } from '../../store/database.ts';
import { lockUntilCommit } from '../../store/locks.ts';
import { getProject } from '../../store/projects.ts';
import { type Answer, type readIdempotencyKey, respondOnce } from '../idempotency.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { takeUse } from '../rate-limit.ts';
import type { Limit } from '../sliding-window.ts';
import { agentJobView } from './agent-job-view.ts';

/** The limit per project: creates and messages count together. */
export const PROMPT_LIMIT: Limit = { uses: 100, windowMs: 3_600_000 };

export type PromptAnswer = Answer & { headers: Record<string, string>; job: AgentJobRow | undefined };

export type Idempotency = ReturnType<typeof readIdempotencyKey>;

type Asked = {
  caller: Caller;
  projectId: string;
  idempotency: Idempotency;
  /** The status of a success. */
  status: number;
  /** The action's name in the audit log. */
  action: string;
  /** Creates the run, or throws an HttpError for a conflict. */
  accept(tx: Transaction, at: Date): Promise<AgentJobRow>;
};

/**
 * Handles a prompt after its body was checked: idempotency, conflict, limit (the contract's order). Job, stored
 * response and use are one transaction; once it commits the run will happen, even without Temporal.
 */
export async function acceptPrompt(context: ApiContext, asked: Asked): Promise<PromptAnswer> {
  const { caller, projectId, idempotency, status, accept, action } = asked;
  const scope = `agent:${projectId}`;
  let accepted: AgentJobRow | undefined;
  let domain = projectId;
  let headers: Record<string, string> = {};
  const answer = await context.db.transaction(async (tx) => {
    // The lock keeps two requests from taking the last slot.
    await lockUntilCommit(tx, scope);
    // Read the clock after the lock, so that uses are counted in the order of their times.
    const at = context.now();
    return respondOnce(tx, { organizationId: caller.organizationId, idempotency, at }, async () => {
      const job = await accept(tx, at);
      headers = await takeUse(tx, { scope, limit: PROMPT_LIMIT, at });
      await recordAction(tx, { ...caller, action, target: job.id, detail: projectId });
      domain = (await getProject(tx, projectId))?.domain ?? projectId;
      accepted = job;
      return { status, body: agentJobView(job) };
    });
  });
  if (accepted !== undefined) startSoon(context, accepted, domain);
  return { ...answer, headers, job: accepted };
}

/** The caller doesn't wait: the run is in the database, and the reconciler starts it if this fails. */
function startSoon({ startAgentJob, logger }: ApiContext, { id: jobId, run }: AgentJobRow, domain: string): void {
  startAgentJob({ jobId, run }, domain).catch((error: unknown) => {
    logger.warn({ err: error, jobId, run }, 'The agent run could not be started now; the reconciler will');
  });
}
