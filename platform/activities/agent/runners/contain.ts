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
export function createContain({ sandbox, environment }: Pick<SandboxOptions, 'sandbox' | 'environment'>): Contain {
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
  return async (run) => (sandbox === 'on' ? await runSandboxed(run, await find()) : await runPlain(run));
}

/** Says once, where commands of others will run, what the operator has chosen. */
export function warnWithoutSandbox({ sandbox, logger }: Pick<SandboxOptions, 'sandbox'> & { logger: Logger }): void {
  if (sandbox === 'on') return;
  logger.warn('agents run without a sandbox (AGENT_SANDBOX=off): they can read and write what this worker can');
}
