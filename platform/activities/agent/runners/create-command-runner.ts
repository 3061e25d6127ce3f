import type { Logger } from 'pino';
import type { AgentOutcome, AgentRunner, AgentTask } from '../agent-runner.ts';
import { splitCommandLine } from './command-line.ts';
import type { ContainedEnd, ContainedRun } from './contained-run.ts';
import { DEFAULT_PATH } from './find-command.ts';
import { startAgentProxy } from './network/agent-proxy.ts';
import { reachProgram } from './reach-program.ts';
import { outcomeOf } from './run-outcome.ts';
import { runPlain } from './run-plain.ts';
import { runSandboxed } from './run-sandboxed.ts';
import type { RunnerLimits, SandboxOptions } from './runner-limits.ts';
import { readSandbox, type Sandbox, SandboxMissingError } from './sandbox/read-sandbox.ts';

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

type ContainOptions = Pick<SandboxOptions, 'sandbox' | 'environment' | 'network'> & { logger: Logger };

type Contain = (run: ContainedRun) => Promise<ContainedEnd>;

/**
 * Runs commands in the configured sandbox. Checks for the sandbox at the first run, and again after it was missing.
 * @throws SandboxMissingError from the returned function if a sandbox is required and missing.
 */
function createContain(options: ContainOptions): Contain {
  const { sandbox, environment, network, logger } = options;
  let found: Promise<Sandbox> | undefined;
  const find = async (): Promise<Sandbox> => {
    found ??= readSandbox(environment.PATH ?? DEFAULT_PATH);
    try {
      return await found;
    } catch (error) {
      found = undefined;
      throw error;
    }
  };
  return async (run) => {
    if (sandbox === 'off') return await runPlain(run);
    const found = await find();
    if (network.allow.length === 0) return await runSandboxed(run, found);
    const proxy = await startAgentProxy({ network, jobId: run.jobId, logger });
    try {
      return await runSandboxed(run, found, proxy.socketPath);
    } finally {
      await proxy.close();
    }
  };
}

/** Logs the missing sandbox once, on workers that run agents. */
function warnWithoutSandbox({ sandbox, logger }: Pick<SandboxOptions, 'sandbox'> & { logger: Logger }): void {
  if (sandbox === 'on') return;
  logger.warn('agents run without a sandbox (AGENT_SANDBOX=off): they can read, write and reach what this worker can');
}

/** The word that the prompt replaces. */
const PROMPT_WORD = '{prompt}';

/** Linux rejects longer arguments: MAX_ARG_STRLEN, including the final zero. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;

type HandedOver = { words: readonly string[]; stdin: Uint8Array } | { error: string };

/**
 * Passes the prompt as the command line wants it: as one argument in place of `{prompt}`, otherwise on standard input.
 * It is never parsed.
 */
export function handOverPrompt(words: readonly string[], prompt: string): HandedOver {
  const bytes = new TextEncoder().encode(prompt);
  if (!words.includes(PROMPT_WORD)) return { words, stdin: bytes };
  if (prompt.includes('\0')) {
    return { error: 'The prompt holds a NUL character, which no argument of a command can hold.' };
  }
  if (bytes.length > MAX_ARGUMENT_BYTES) {
    return {
      error: `The prompt has ${bytes.length} bytes; an argument of a command holds at most ${MAX_ARGUMENT_BYTES}.`,
    };
  }
  return { words: words.map((word) => (word === PROMPT_WORD ? prompt : word)), stdin: new Uint8Array() };
}
