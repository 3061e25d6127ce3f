import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  patched,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { escapeMarkdown } from '../../contract/details-markdown.ts';
import { agentTaskQueue, BASELINE } from '../../contract/names.ts';
import type { AgentRunResult } from '../activities/agent/end-agent-run.ts';
import type { PlatformActivities } from '../activities/create-platform-activities.ts';
import { type AgentVisibility, agentDetails, markPullRequest } from './agent-job/agent-visibility.ts';
import { agentFailureText } from './failures.ts';

type AgentJobInput = { jobId: string; run: number };

/** `over`: the run had ended before its workflow began, or a later run is current. */
type AgentJobResult = { status: 'completed' | 'over'; prLink: string | null };

/** The failure type of a failed run; the job's row has the reason. */
const AGENT_FAILED = 'AgentFailed';

/** Bridges outages of a forge, the database or the object store: 12 attempts are about six minutes. */
const RETRY = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' } as const;

const steps = proxyActivities<PlatformActivities>({
  // Fetching and pushing a large repository takes long; the heartbeat shows that it is alive.
  startToCloseTimeout: '45m',
  heartbeatTimeout: '5s',
  // Their pushes and pull requests must not come after the run's end.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { ...RETRY, maximumAttempts: 12 },
});

const agents = proxyActivities<PlatformActivities>({
  // Each call replaces it by the runner's limit plus this, for fetching before it and storing after it.
  startToCloseTimeout: '1h',
  heartbeatTimeout: '5s',
  // Wait until the agent's processes are gone before the run counts as canceled.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  // Each attempt is as expensive as the first, and what failed five times fails again.
  retry: { ...RETRY, maximumAttempts: 5 },
});

const AROUND_THE_AGENT_MS = 3_600_000;

const endings = proxyActivities<PlatformActivities>({
  // A run's end must be recorded, however long it takes.
  startToCloseTimeout: '2m',
  heartbeatTimeout: '5s',
  retry: RETRY,
});

/**
 * One run of an agent job: the job's prompt, or one follow-up message. The agent works on the repository's current
 * state, its change is pushed to the job's branch, and the pull request is opened or updated. Each step stores its
 * result in the run's row, so every step can be repeated on any worker.
 */
export async function agentJob(key: AgentJobInput): Promise<AgentJobResult> {
  patched(BASELINE);
  const { result, cause } = await runSteps(key).then(
    (done) => ({ result: done, cause: undefined }),
    (error: unknown) => ({ result: { kind: 'failed', error: agentFailureText(error) } as const, cause: error }),
  );
  if (result === undefined) return { status: 'over', prLink: null };
  if (result.kind === 'failed')
    setCurrentDetails(`Failed: ${escapeMarkdown(result.error ?? 'the agent failed, and the job says why')}`);
  const ended = await CancellationScope.nonCancellable(() =>
    endings.endAgentRun.executeWithOptions({ summary: `record that the run ${result.kind}` }, [{ ...key, result }]),
  );
  if (result.kind === 'completed' && ended.status !== 'failed') return { status: 'completed', prLink: result.prLink };
  if (isCancellation(cause)) throw cause;
  // If a cancel was accepted before the run completed, it has failed as canceled.
  const text = result.kind === 'completed' ? 'cancelled' : (result.error ?? 'The agent failed, and the job says why');
  throw ApplicationFailure.nonRetryable(text, AGENT_FAILED);
}

/** Undefined if the run was over before its workflow began. */
async function runSteps(key: AgentJobInput): Promise<AgentRunResult | undefined> {
  const opened = await steps.openAgentRun.executeWithOptions({ summary: 'what to start from' }, [key]);
  if (opened.state === 'over') return undefined;
  const { repository, branch, baseCommit, baseBranch, continues, replaces, finished, runTimeoutMs } = opened;
  const visibility: AgentVisibility = {
    repository,
    branch,
    run: key.run,
    stage: `the agent works on ${baseCommit.slice(0, 10)}`,
  };

  showDetails(visibility, {});
  const { kind } = await agents.runAgent.executeWithOptions(
    {
      summary: `the agent, from ${baseCommit.slice(0, 10)}`,
      taskQueue: agentTaskQueue(workflowInfo().taskQueue),
      startToCloseTimeout: runTimeoutMs + AROUND_THE_AGENT_MS,
    },
    [key],
  );
  if (kind === 'failed') return { kind: 'failed', error: null };

  let pushed: { commit: string; finished: string | null } | undefined;
  if (kind === 'changed') {
    showDetails(visibility, { stage: 'pushing the change' });
    pushed = await steps.pushChange.executeWithOptions({ summary: branch }, [{ ...key, replaces, finished }]);
  }

  showDetails(visibility, { stage: kind === 'changed' ? 'opening the pull request' : 'the agent changed nothing' });
  const asked = {
    ...key,
    commit: pushed?.commit ?? null,
    baseBranch,
    continues,
    finished: pushed?.finished ?? finished,
  };
  const { prLink } = await steps.openPullRequest.executeWithOptions({ summary: `into ${baseBranch}` }, [asked]);
  if (prLink !== null && opened.searchAttributes) markPullRequest(prLink);
  const result = kind === 'changed' ? `pushed ${pushed?.commit.slice(0, 10)}` : 'the agent changed nothing';
  showDetails(visibility, { stage: `completed: ${result}`, prLink });
  return { kind: 'completed', prLink };
}

function showDetails(visibility: AgentVisibility, change: Partial<AgentVisibility>): void {
  Object.assign(visibility, change);
  setCurrentDetails(agentDetails(visibility));
}
