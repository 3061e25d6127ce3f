import { join } from 'node:path';
import type { Logger } from 'pino';
import type { AgentRunner } from '../../platform/activities/agent/agent-runner.ts';
import { createCommandRunner } from '../../platform/activities/agent/runners/create-command-runner.ts';
import { createExampleRunner } from '../../platform/activities/agent/runners/create-example-runner.ts';
import { DEFAULT_RUNNER_LIMITS } from '../../platform/activities/agent/runners/runner-limits.ts';
import { packageRoot } from '../process/package-root.ts';
import type { Settings } from '../settings/environment.ts';
import { pick } from '../settings/pick.ts';

/** The worker's variables that the agent's processes get besides those in AGENT_ENV. */
const HANDED_ON = ['PATH', 'LANG', 'TZ'];

/**
 * Creates the agent runner that the variables AGENT_… configure. `ownServers` are `host:port`s that no agent may reach.
 * @throws ConfigurationError if AGENT_COMMAND isn't a valid command line.
 */
export function agentRunnerOf(
  settings: Pick<Settings, 'agent' | 'variables'>,
  logger: Logger,
  ownServers: readonly string[] = [],
): AgentRunner {
  const { agent } = settings;
  const common = {
    sandbox: agent.sandbox ? ('on' as const) : ('off' as const),
    network: { allow: agent.allowedHosts, refuse: ownServers },
    environment: agentEnvironment(settings),
    readOnlyPaths: agent.readablePaths,
    limits: {
      ...DEFAULT_RUNNER_LIMITS,
      timeoutMs: agent.timeoutMs,
      scratchSizeBytes: agent.scratchSizeBytes,
      outputLimitBytes: agent.outputLimitBytes,
    },
    logger,
  };
  const { command, model } = agent;
  return command === undefined
    ? createExampleRunner({ ...common, model, script: join(packageRoot(), 'examples', 'replace-agent.js') })
    : createCommandRunner({ ...common, model, command });
}

export function agentEnvironment({ agent, variables }: Pick<Settings, 'agent' | 'variables'>): Record<string, string> {
  return pick(variables, [...HANDED_ON, ...agent.environmentNames]);
}
