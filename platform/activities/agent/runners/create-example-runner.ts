import type { Logger } from 'pino';
import type { AgentRunner } from '../agent-runner.ts';
import { createWordsRunner } from './create-command-runner.ts';
import { DEFAULT_PATH } from './find-command.ts';
import type { RunnerLimits, SandboxOptions } from './runner-limits.ts';
import { readSandbox, SandboxMissingError } from './sandbox/read-sandbox.ts';

type ExampleRunnerOptions = SandboxOptions & {
  /** The absolute path of examples/replace-agent.js. */
  script: string;
  /** Default: `example`. */
  model?: string;
  limits: RunnerLimits;
  logger: Logger;
};

/** The operator hasn't set an agent, so the error names the variable to set. */
const NOT_UNDERSTOOD =
  "AGENT_COMMAND isn't set, so the example agent works, and it doesn't understand this prompt. Set AGENT_COMMAND to the command line of your coding agent.";

/** The script's exit code for an unsupported prompt. */
const EXIT_SENTENCES = { 64: NOT_UNDERSTOOD };

/**
 * The demo's agent: handles `Replace 'A' with 'B' in FILE` and fails for a prompt without such a sentence. It is
 * Galley's own script, so it may run without a sandbox; the log says so once.
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
