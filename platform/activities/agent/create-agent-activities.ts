import { type AgentContext, type AgentDeps, DEFAULT_AGENT_SETTINGS } from './agent-deps.ts';
import { impossible } from './agent-step.ts';
import { type AgentRunResult, endAgentRun } from './end-agent-run.ts';
import { openAgentRun } from './open-agent-run.ts';
import { openAgentPullRequest, type PullRequestInput } from './open-pull-request.ts';
import { type PushInput, pushChange } from './push-change.ts';
import { runAgent } from './run-agent.ts';

export type AgentActivityDeps = Pick<AgentContext, 'db' | 'objects' | 'logger'> & {
  /** Whether the server knows our search attributes. */
  searchAttributes?: boolean;
  /** What agent jobs need; without it they fail with a clear error. */
  agents?: AgentDeps;
};

type RunKey = { jobId: string; run: number };

/**
 * The steps of agent jobs. On a worker without agents each of them rejects the job, except the last, which records how
 * a run ended.
 */
export function createAgentActivities(deps: AgentActivityDeps) {
  const context = contextOf(deps);
  const withAgents = (): AgentContext => {
    if (context !== undefined) return context;
    throw impossible('This platform runs no agents: its worker was started without one');
  };
  return {
    openAgentRun: async ({ jobId, run }: RunKey) => openAgentRun(withAgents(), { jobId, run }),
    runAgent: async ({ jobId, run }: RunKey) => runAgent(withAgents(), { jobId, run }),
    pushChange: async (input: PushInput) => pushChange(withAgents(), input),
    openPullRequest: async (input: PullRequestInput) => openAgentPullRequest(withAgents(), input),
    endAgentRun: (input: RunKey & { result: AgentRunResult }) => endAgentRun(deps, input),
  };
}

function contextOf(deps: AgentActivityDeps): AgentContext | undefined {
  if (deps.agents === undefined) return undefined;
  const { db, objects, logger, searchAttributes = false } = deps;
  const { gitEnvironment, ...agents } = deps.agents;
  return { ...DEFAULT_AGENT_SETTINGS, ...agents, gitEnvironment, db, objects, logger, searchAttributes };
}
