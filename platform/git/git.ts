import { execa } from 'execa';
import type { GitCredentials } from '../../forge/forge.ts';
import { explainFailure } from './explain-failure.ts';
import { gitEnvironment } from './git-environment.ts';
import { GitError } from './git-error.ts';

/** A repository elsewhere, and what it is entered with; null where nothing is needed. */
export type Remote = { repository: string; credentials: GitCredentials | null };

export type GitRun = {
  /** The bare repository that the command works on. */
  dir?: string;
  /** Who is talked to: its credentials reach git by the environment only. */
  remote?: Remote;
  input?: string;
  inputFile?: string;
  /** More variables, such as who commits. */
  environment?: Readonly<Record<string, string>>;
  timeoutMs?: number;
  maxOutputBytes?: number;
  /** More output than that is cut off there, rather than a failure. */
  cutOutput?: boolean;
  /** Exit codes that are an answer too, such as 1 for "no". */
  accept?: readonly number[];
};

export type GitAnswer = { exitCode: number; stdout: string; stderr: string };

/** Runs one git command. Throws `GitError` where it fails, takes too long or says too much, and when it is aborted. */
export type Git = (args: readonly [string, ...string[]], run?: GitRun) => Promise<GitAnswer>;

export type GitSettings = {
  /** Aborted: git and all that it started are ended, at the latest after 2 s by force. */
  signal: AbortSignal;
  /** What git inherits: a path, proxies, an SSH agent. */
  environment?: Readonly<Record<string, string>> | undefined;
};

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** What git is given to put away its lock files. */
const SOFT_END_MS = 1_000;

/** Git as child processes with a clean environment, each the leader of a process group. */
export function createGit({ signal, environment }: GitSettings): Git {
  return async (args, run = {}) => {
    signal.throwIfAborted();
    const { remote, timeoutMs = TIMEOUT_MS, maxOutputBytes = MAX_OUTPUT_BYTES, accept = [] } = run;
    const child = execa('git', run.dir === undefined ? args : [`--git-dir=${run.dir}`, ...args], {
      env: {
        ...gitEnvironment({ ...(environment && { inherited: environment }), ...(remote && { access: remote }) }),
        ...run.environment,
      },
      extendEnv: false,
      // A work tree is never meant, nor is a repository that happens to lie around the current folder.
      cwd: run.dir ?? '/',
      ...inputOf(run),
      stripFinalNewline: false,
      maxBuffer: maxOutputBytes,
      reject: false,
      // A group of its own: ssh, remote helpers and packers end with it.
      detached: true,
    });
    const { pid } = child;
    let timedOut = false;
    const end = () => endGroup(pid);
    const onTimeout = () => {
      timedOut = true;
      end();
    };
    const timer = setTimeout(onTimeout, timeoutMs);
    signal.addEventListener('abort', end, { once: true });
    try {
      const { exitCode, stdout, stderr, isMaxBuffer, shortMessage } = await child;
      signal.throwIfAborted();
      const [command] = args;
      if (timedOut) throw new GitError(`git ${command} took longer than ${timeoutMs / 1_000} s`, 'timeout');
      if (isMaxBuffer) {
        endGroup(pid, 'SIGKILL');
        if (run.cutOutput) return { exitCode: 0, stdout, stderr };
        throw new GitError(`git ${command} printed more than ${maxOutputBytes} bytes`, 'other');
      }
      if (exitCode === 0 || (exitCode !== undefined && accept.includes(exitCode))) return { exitCode, stdout, stderr };
      throw explainFailure(stderr === '' ? (shortMessage ?? '') : stderr, command, secretsOf(remote));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  };
}

/** What must not appear where people read. */
export function secretsOf(remote: Remote | undefined): string[] {
  return remote?.credentials ? [remote.credentials.password] : [];
}

function inputOf({ input, inputFile }: GitRun) {
  if (inputFile !== undefined) return { stdin: { file: inputFile } };
  return input === undefined ? { stdin: 'ignore' as const } : { input };
}

function endGroup(pid: number | undefined, by: NodeJS.Signals = 'SIGTERM'): void {
  if (pid === undefined) return;
  const send = (signal: NodeJS.Signals) => {
    try {
      process.kill(-pid, signal);
    } catch {
      // It has ended already.
    }
  };
  send(by);
  if (by === 'SIGTERM') setTimeout(send, SOFT_END_MS, 'SIGKILL').unref();
}
