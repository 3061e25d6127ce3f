import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { formatDurationMs } from '../../../../contract/duration.ts';
import type { AgentOutcome, AgentRunner, AgentTask } from '../agent-runner.ts';
import { splitCommandLine } from './command-line.ts';
import { type Contain, createContain, warnWithoutSandbox } from './contain.ts';
import type { ContainedRun } from './contained-run.ts';
import { createAskModel } from './model/ask-model.ts';
import { createCheckoutFiles } from './model/checkout-files.ts';
import { converse } from './model/converse.ts';
import type { ModelLimits } from './model/model-limits.ts';
import { createModelLog } from './model/model-log.ts';
import { runCheck } from './model/run-check.ts';
import { RunFailure } from './model/run-failure.ts';
import { createTools } from './model/tools.ts';
import { reachProgram } from './reach-program.ts';
import { outcomeOf } from './run-outcome.ts';
import { collectPlain, plainCheckout, preparePlain } from './run-plain.ts';
import type { RunnerLimits, SandboxOptions } from './runner-limits.ts';
import { SandboxMissingError } from './sandbox/read-sandbox.ts';

type ModelRunnerOptions = SandboxOptions & {
  /** The model's name at the endpoint, and what jobs report as `model`. */
  model: string;
  /** The base URL of an OpenAI-compatible API, such as `https://api.openai.com/v1`. */
  url: string;
  /** Undefined if the endpoint needs none. The model's tools never see it. */
  apiKey?: string;
  /** The project's check, split like the agent's command; without it the model has no `run_check`. */
  checkCommand?: string;
  limits: RunnerLimits;
  modelLimits: ModelLimits;
  logger: Logger;
};

type Check = { words: readonly string[]; contain: Contain };

/**
 * A tool loop over any model behind an OpenAI-compatible endpoint. The model reads and writes files of a private
 * checkout; only the project's check runs a program, in the sandbox and on a copy.
 * @throws ConfigurationError if the check's command line can't be split.
 */
export function createModelRunner({ checkCommand, ...options }: ModelRunnerOptions): AgentRunner {
  const check: Check | undefined =
    checkCommand === undefined
      ? undefined
      : { words: splitCommandLine(checkCommand, 'AGENT_CHECK_COMMAND'), contain: createContain(options) };
  if (check !== undefined) warnWithoutSandbox(options);
  return {
    model: options.model,
    run: async (task) => {
      task.signal.throwIfAborted();
      try {
        return await runModel(task, options, check);
      } catch (error) {
        task.signal.throwIfAborted();
        if (error instanceof RunFailure || error instanceof SandboxMissingError) {
          return { kind: 'failed', error: error.message };
        }
        throw error;
      }
    },
  };
}

async function runModel(
  task: AgentTask,
  options: Omit<ModelRunnerOptions, 'checkCommand'>,
  check: Check | undefined,
): Promise<AgentOutcome> {
  const { limits, modelLimits } = options;
  const [program] = check?.words ?? [];
  const reach = program === undefined ? options : await reachProgram(program, options);
  if (reach === undefined) {
    throw new RunFailure(`The check's command ${program} isn't on this worker: correct AGENT_CHECK_COMMAND or PATH.`);
  }
  const { environment, readOnlyPaths } = reach;
  const run: ContainedRun = {
    ...task,
    ...{ environment, readOnlyPaths, limits },
    ...{ words: [], stdin: new Uint8Array(), collect: true },
  };
  const prepared = await preparePlain(run);
  task.signal.throwIfAborted();
  const broken = prepared.report.ready ? undefined : outcomeOf(prepared, limits);
  if (broken !== undefined) return broken;
  const checkout = plainCheckout(task.scratchDir);
  await rm(join(checkout, '.git'), { recursive: true });

  const timeout = AbortSignal.timeout(limits.timeoutMs);
  const signal = AbortSignal.any([task.signal, timeout]);
  const tools = createTools(
    createCheckoutFiles(checkout, modelLimits.maxFileBytes, signal),
    check && (() => runCheck({ ...check, run: { ...run, signal }, checkout })),
  );
  const ask = createAskModel({ ...options, apiKey: options.apiKey, ...modelLimits, tools: tools.definitions });
  const say = createModelLog(task.log, limits.outputLimitBytes);
  try {
    await converse({ prompt: task.prompt, ask, tools, limits: modelLimits, signal, say });
  } catch (error) {
    task.signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new RunFailure(`The model was not done after ${formatDurationMs(limits.timeoutMs)}, its time limit.`);
  }
  const collected = await collectPlain(run);
  task.signal.throwIfAborted();
  return outcomeOf(collected, limits);
}
