import type { AgentTask } from '../agent-runner.ts';
import type { Report } from './result-channel.ts';
import type { RunnerLimits } from './runner-limits.ts';

/** One command to run over a checkout, in the sandbox or without it. */
export type ContainedRun = Pick<AgentTask, 'jobId' | 'repositoryDir' | 'commit' | 'scratchDir' | 'signal' | 'log'> & {
  words: readonly string[];
  stdin: Uint8Array;
  /** Whole, but for HOME, TMPDIR and TERM. */
  environment: Readonly<Record<string, string>>;
  readOnlyPaths: readonly string[];
  limits: RunnerLimits;
  /** A folder of the host whose files replace the checkout's. */
  input?: string;
  /** Whether the tree is stored once the command has ended well; without it only the exit code counts. */
  collect: boolean;
};

/** Why a run was ended from outside. `stuck`: the checkout or the collecting took longer than any should. */
export type EndedBy = 'time' | 'output' | 'stuck' | 'abort';

export type ContainedEnd = {
  report: Report;
  endedBy: EndedBy | null;
  /** What the machinery around the command said on its own standard error, cut short. */
  stderr: string;
};

/** How long making a checkout may take, and storing a tree: both are bounded by the disk, not by the agent. */
export const MACHINERY_TIMEOUT_MS = 10 * 60_000;
