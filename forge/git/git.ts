import { execa } from 'execa';
import { signalGroup } from '../../base/process-group.ts';
import type { GitCredentials } from '../forge.ts';
import { gitEnvironment } from './git-environment.ts';
import { explainFailure, GitError } from './git-error.ts';

/** A remote repository and its credentials; null if it needs none. */
export type Remote = { repository: string; credentials: GitCredentials | null };

export type GitRun = {
  /** The bare repository that the command works on. */
  dir?: string;
  /** The remote. Its credentials are passed to git in the environment only. */
  remote?: Remote;
  input?: string;
  inputFile?: string;
  /** More variables, such as the committer. */
  environment?: Readonly<Record<string, string>>;
  timeoutMs?: number;
  maxOutputBytes?: number;
  /** Truncates longer output instead of failing. */
  cutOutput?: boolean;
  /** Exit codes that aren't failures, such as 1 for "no". */
  accept?: readonly number[];
};

export type GitResult = { exitCode: number; stdout: string; stderr: string };

/** Runs one git command. Throws `GitError` if it fails, takes too long, prints too much, or is aborted. */
export type Git = (args: readonly [string, ...string[]], run?: GitRun) => Promise<GitResult>;

type GitSettings = {
  /** When aborted, git and all that it started are terminated, and killed after 1 s. */
  signal: AbortSignal;
  /** What git inherits: a path, proxies, an SSH agent. */
  environment?: Readonly<Record<string, string>> | undefined;
};

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Time for git to remove its lock files. */
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
      // Prevents git from using a work tree or a repository around the current folder.
      cwd: run.dir ?? '/',
      ...inputOf(run),
      stripFinalNewline: false,
      maxBuffer: maxOutputBytes,
      reject: false,
      // A group of its own, so that ssh, remote helpers and packers are killed with it.
      detached: true,
    });
    let timedOut = false;
    const end = () => {
      signalGroup(child, 'SIGTERM');
      setTimeout(() => signalGroup(child, 'SIGKILL'), SOFT_END_MS).unref();
    };
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
        signalGroup(child, 'SIGKILL');
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

/** What must not appear in messages. */
export function secretsOf(remote: Remote | undefined): string[] {
  return remote?.credentials ? [remote.credentials.password] : [];
}

function inputOf({ input, inputFile }: GitRun) {
  if (inputFile !== undefined) return { stdin: { file: inputFile } };
  return input === undefined ? { stdin: 'ignore' as const } : { input };
}
