import type { Logger } from 'pino';
import type { AgentRunner } from '../agent-runner.ts';
import { createWordsRunner } from './create-command-runner.ts';
import { DEFAULT_PATH } from './find-command.ts';
import type { RunnerLimits, SandboxOptions } from './runner-limits.ts';
import { readSandbox, SandboxMissingError } from './sandbox/read-sandbox.ts';

export type ExampleRunnerOptions = SandboxOptions & {
  /** The absolute path of examples/replace-agent.js. */
  script: string;
  /** `example` where it isn't given. */
  model?: string;
  limits: RunnerLimits;
  logger: Logger;
};

/** Nobody chose this agent: whoever waits for the change must learn what to set. */
const NOT_UNDERSTOOD =
  "AGENT_COMMAND isn't set, so the example agent works, and it doesn't understand this prompt. Set AGENT_COMMAND to the command line of your coding agent.";

/** The script's exit code for a prompt that it doesn't understand. */
const EXIT_SENTENCES = { 64: NOT_UNDERSTOOD };

/**
 * The agent of the demo: it understands `Replace 'A' with 'B' in FILE`, and fails for a prompt without such a sentence. As
 * a script of ours it also runs where there is no sandbox; the log says so once.
 */
export function createExampleRunner({ script, model = 'example', ...options }: ExampleRunnerOptions): AgentRunner {
  const words = [process.execPath, script];
  const readOnlyPaths = [...options.readOnlyPaths, script];
  const runnerWith = (sandbox: 'on' | 'off'): AgentRunner =>
    createWordsRunner({ ...options, words, model, readOnlyPaths, sandbox, exitSentences: EXIT_SENTENCES });
  let chosen: Promise<AgentRunner> | undefined;
  const choose = async (): Promise<AgentRunner> => {
    if (options.sandbox === 'off') return runnerWith('off');
    try {
      await readSandbox(options.environment.PATH ?? DEFAULT_PATH);
      return runnerWith('on');
    } catch (error) {
      if (!(error instanceof SandboxMissingError)) throw error;
      options.logger.warn({ reason: error.message }, 'the example agent runs without a sandbox');
      return runnerWith('off');
    }
  };
  return {
    model,
    run: async (task) => {
      chosen ??= choose();
      return await (await chosen).run(task);
    },
  };
}
