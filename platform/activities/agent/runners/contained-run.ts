import type { AgentTask } from '../agent-runner.ts';
import type { RunReport } from './result-channel.ts';
import type { RunnerLimits } from './runner-limits.ts';

/** One command to run on a checkout, with or without a sandbox. */
export type ContainedRun = Pick<AgentTask, 'jobId' | 'repositoryDir' | 'commit' | 'scratchDir' | 'signal' | 'log'> & {
  words: readonly string[];
  stdin: Uint8Array;
  /** The whole environment except HOME, TMPDIR and TERM. */
  environment: Readonly<Record<string, string>>;
  readOnlyPaths: readonly string[];
  limits: RunnerLimits;
};

/** Why a run was killed. `stuck`: making the checkout or storing the tree took too long. */
export type EndedBy = 'time' | 'output' | 'stuck' | 'abort';

export type ContainedEnd = {
  report: RunReport;
  endedBy: EndedBy | null;
  /** The wrapper's own standard error, shortened. */
  stderr: string;
};

/** Time limit for making a checkout and for storing a tree. Both depend on the disk, not on the agent. */
export const MACHINERY_TIMEOUT_MS = 10 * 60_000;
