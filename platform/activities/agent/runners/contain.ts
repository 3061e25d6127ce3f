import type { Logger } from 'pino';
import type { ContainedEnd, ContainedRun } from './contained-run.ts';
import { DEFAULT_PATH } from './find-command.ts';
import { runPlain } from './run-plain.ts';
import { runSandboxed } from './run-sandboxed.ts';
import type { SandboxOptions } from './runner-limits.ts';
import { readSandbox, type Sandbox } from './sandbox/read-sandbox.ts';

export type Contain = (run: ContainedRun) => Promise<ContainedEnd>;

/**
 * Runs commands as the operator wants them run. The machine is asked for its sandbox at the first run, and again after
 * a refusal.
 * @throws SandboxMissingError from the returned function, where there must be a sandbox and is none.
 */
export function createContain({
  sandbox,
  environment,
  logger,
}: Pick<SandboxOptions, 'sandbox' | 'environment'> & { logger: Logger }): Contain {
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
  let hasWarned = false;
  return async (run) => {
    if (sandbox === 'on') return await runSandboxed(run, await find());
    if (!hasWarned) logger.warn('agents run without a sandbox: they can read and write what this worker can');
    hasWarned = true;
    return await runPlain(run);
  };
}
