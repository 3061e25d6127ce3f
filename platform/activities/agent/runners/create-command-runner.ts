import type { Logger } from 'pino';
import type { AgentRunner } from '../agent-runner.ts';
import type { RunnerLimits, SandboxOptions } from './runner-limits.ts';

export type CommandRunnerOptions = SandboxOptions & {
  /** The command line, split into words as a shell would split it; no shell runs it and nothing is expanded. */
  command: string;
  /** What jobs report as `model`. */
  model: string;
  limits: RunnerLimits;
  logger: Logger;
};

/**
 * Runs any coding agent's command line in a checkout of its own.
 * @throws ConfigurationError where the command line can't be split: an open quote, a shell's operator.
 */
export function createCommandRunner(options: CommandRunnerOptions): AgentRunner {
  return {
    model: options.model,
    run: () => Promise.reject(new Error('Not built yet.')),
  };
}
