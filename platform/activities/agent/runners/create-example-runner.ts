import type { Logger } from 'pino';
import type { AgentRunner } from '../agent-runner.ts';
import { createCommandRunner } from './create-command-runner.ts';
import type { RunnerLimits, SandboxOptions } from './runner-limits.ts';

export type ExampleRunnerOptions = SandboxOptions & {
  /** The path of examples/replace-agent.js. */
  script: string;
  /** `example` where it isn't given. */
  model?: string;
  limits: RunnerLimits;
  logger: Logger;
};

/** The agent of the demo: it understands `Replace 'A' with 'B' in FILE` and otherwise changes nothing. */
export function createExampleRunner({ script, model = 'example', ...options }: ExampleRunnerOptions): AgentRunner {
  return createCommandRunner({ ...options, command: `node ${script}`, model });
}
