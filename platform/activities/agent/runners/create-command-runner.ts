import type { Logger } from 'pino';
import type { AgentOutcome, AgentRunner, AgentTask } from '../agent-runner.ts';
import { splitCommandLine } from './command-line.ts';
import { type Contain, createContain, warnWithoutSandbox } from './contain.ts';
import { handOverPrompt } from './hand-over-prompt.ts';
import { reachProgram } from './reach-program.ts';
import { outcomeOf } from './run-outcome.ts';
import type { RunnerLimits, SandboxOptions } from './runner-limits.ts';
import { SandboxMissingError } from './sandbox/read-sandbox.ts';

type CommandRunnerOptions = SandboxOptions & {
  /** The command line as words. No shell runs it and nothing is expanded. */
  command: string;
  /** What jobs report as `model`. */
  model: string;
  limits: RunnerLimits;
  logger: Logger;
};

/**
 * Runs a coding agent's command line in a checkout of its own. The prompt goes to standard input, or replaces a word
 * that is exactly `{prompt}`.
 * @throws ConfigurationError if the command line can't be split: an open quote, a shell operator.
 */
export function createCommandRunner({ command, ...options }: CommandRunnerOptions): AgentRunner {
  const words = splitCommandLine(command);
  warnWithoutSandbox(options);
  return createWordsRunner({ ...options, words });
}

type WordsRunnerOptions = Omit<CommandRunnerOptions, 'command'> & {
  words: readonly string[];
  /** Meanings of the command's exit codes, for the job's owner. */
  exitSentences?: Readonly<Record<number, string>>;
};

/** The same for a command line that is already split. */
export function createWordsRunner(options: WordsRunnerOptions): AgentRunner {
  const contain = createContain(options);
  return {
    model: options.model,
    run: async (task) => {
      task.signal.throwIfAborted();
      try {
        return await runWords(task, options, contain);
      } catch (error) {
        if (error instanceof SandboxMissingError) return { kind: 'failed', error: error.message };
        throw error;
      }
    },
  };
}

async function runWords(task: AgentTask, options: WordsRunnerOptions, contain: Contain): Promise<AgentOutcome> {
  const handedOver = handOverPrompt(options.words, task.prompt);
  if ('error' in handedOver) return { kind: 'failed', error: handedOver.error };
  const [program = ''] = options.words;
  const reach = await reachProgram(program, options);
  if (reach === undefined) {
    const error = `The agent's command ${program} isn't on this worker: install it, or correct AGENT_COMMAND or PATH.`;
    return { kind: 'failed', error };
  }
  const { limits } = options;
  const end = await contain({ ...task, ...handedOver, ...reach, limits });
  task.signal.throwIfAborted();
  return outcomeOf(end, limits, options.exitSentences);
}
