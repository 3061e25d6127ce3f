import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findCommand } from '../find-command.ts';

const execute = promisify(execFile);

/** A bubblewrap that works on this machine. */
export type Sandbox = {
  program: string;
  /** The strictest user namespace that the machine allows. */
  userArgs: readonly string[];
};

/** Thrown if commands can't be isolated. The message says what the operator can do. */
export class SandboxMissingError extends Error {
  override readonly name = 'SandboxMissingError';
}

/** The strictest first. Root needs no user namespace; then it keeps its user id inside, without any capability. */
const USER_ARGS = [
  ['--unshare-user', '--uid', '1000', '--gid', '1000', '--disable-userns'],
  ['--unshare-user', '--uid', '1000', '--gid', '1000'],
  [],
] as const;

const PROBE_ARGS = [
  ...['--unshare-net', '--unshare-pid', '--unshare-ipc', '--cap-drop', 'ALL'],
  ...['--ro-bind', '/', '/', '--proc', '/proc'],
];

/**
 * Finds bubblewrap on that PATH and tries it, because a machine may forbid what it needs.
 * @throws SandboxMissingError, and an Error if the trial itself failed.
 */
export async function readSandbox(path: string): Promise<Sandbox> {
  const program = await findCommand('bwrap', path);
  if (program === undefined) {
    throw new SandboxMissingError(
      "Agents run in a sandbox of bubblewrap, which is not on this worker's PATH (Debian and Ubuntu: apt-get install " +
        'bubblewrap). AGENT_SANDBOX=off runs them without one.',
    );
  }
  let reason = '';
  for (const userArgs of USER_ARGS) {
    try {
      await execute(program, [...userArgs, ...PROBE_ARGS, '--', '/bin/sh', '-c', ':'], { env: {}, timeout: 10_000 });
      return { program, userArgs };
    } catch (error) {
      // If bubblewrap didn't exit by itself (it wasn't started, or timed out), a retry may succeed.
      if (!hasExited(error)) throw new Error(`The sandbox could not be tried: ${readStderr(error)}`, { cause: error });
      // The last attempt needs root, so report the first reason.
      reason ||= readStderr(error);
    }
  }
  throw new SandboxMissingError(
    `Agents run in a sandbox of bubblewrap, which this worker's machine doesn't allow (${reason}). It must permit user ` +
      'and network namespaces and a fresh /proc. AGENT_SANDBOX=off runs agents without a sandbox.',
  );
}

/** Node's `code` is a number only if the program exited by itself. */
function hasExited(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number';
}

function readStderr(error: unknown): string {
  const stderr = typeof error === 'object' && error !== null && 'stderr' in error ? String(error.stderr).trim() : '';
  return stderr === '' ? String(error) : stderr;
}
