import type { Logger } from 'pino';
import type { ContainedEnd, ContainedRun } from './contained-run.ts';
import { DEFAULT_PATH } from './find-command.ts';
import { startAgentProxy } from './network/agent-proxy.ts';
import { runPlain } from './run-plain.ts';
import { runSandboxed } from './run-sandboxed.ts';
import type { SandboxOptions } from './runner-limits.ts';
import { readSandbox, type Sandbox } from './sandbox/read-sandbox.ts';

type ContainOptions = Pick<SandboxOptions, 'sandbox' | 'environment' | 'network'> & { logger: Logger };

export type Contain = (run: ContainedRun) => Promise<ContainedEnd>;

/**
 * Runs commands in the configured sandbox. Checks for the sandbox at the first run, and again after it was missing.
 * @throws SandboxMissingError from the returned function if a sandbox is required and missing.
 */
export function createContain(options: ContainOptions): Contain {
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
export function warnWithoutSandbox({ sandbox, logger }: Pick<SandboxOptions, 'sandbox'> & { logger: Logger }): void {
  if (sandbox === 'on') return;
  logger.warn('agents run without a sandbox (AGENT_SANDBOX=off): they can read, write and reach what this worker can');
}
