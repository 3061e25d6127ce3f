import type { PlatformActivityDeps } from '../create-platform-activities.ts';
import { type AgentContext, DEFAULT_AGENT_SETTINGS } from './agent-deps.ts';
import { type AgentRunResult, endAgentRun } from './end-agent-run.ts';
import { openAgentRun } from './open-agent-run.ts';
import { openPullRequest, type PullRequestInput } from './open-pull-request.ts';
import { impossible } from './owner-failure.ts';
import { type PushInput, pushChange } from './push-change.ts';
import { runAgent } from './run-agent.ts';

type RunKey = { jobId: string; run: number };

/**
 * The steps of agent jobs. On a worker without agents each of them rejects the job, except the last, which records how
 * a run ended.
 */
export function createAgentActivities(deps: PlatformActivityDeps) {
  const context = contextOf(deps);
  const withAgents = (): AgentContext => {
    if (context !== undefined) return context;
    throw impossible('This platform runs no agents: its worker was started without one');
  };
  return {
    openAgentRun: async ({ jobId, run }: RunKey) => openAgentRun(withAgents(), { jobId, run }),
    runAgent: async ({ jobId, run }: RunKey) => runAgent(withAgents(), { jobId, run }),
    pushChange: async (input: PushInput) => pushChange(withAgents(), input),
    openPullRequest: async (input: PullRequestInput) => openPullRequest(withAgents(), input),
    endAgentRun: (input: RunKey & { result: AgentRunResult }) => endAgentRun(deps, input),
  };
}

function contextOf(deps: PlatformActivityDeps): AgentContext | undefined {
  if (deps.agents === undefined) return undefined;
  const { db, objects, logger, searchAttributes = false } = deps;
  const { gitEnvironment, ...agents } = deps.agents;
  return { ...DEFAULT_AGENT_SETTINGS, ...agents, gitEnvironment, db, objects, logger, searchAttributes };
}
