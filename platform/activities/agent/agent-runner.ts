/**
 * The port to whatever does the work: a coding agent's command line, or a model with tools. A runner gets a commit and
 * hands back a tree; it never sees credentials, and nothing that it leaves behind is run or trusted outside.
 */

export type AgentTask = {
  jobId: string;
  /** 1 for the job's prompt, one more for each follow-up message. */
  run: number;
  /** As the caller sent it, to the byte. */
  prompt: string;
  /** A bare repository on this machine that holds `commit`; read-only to the agent. */
  repositoryDir: string;
  /** What the agent starts from: a full commit id. */
  commit: string;
  /** An empty folder for the runner's own files, results included. The caller removes it. */
  scratchDir: string;
  /** Aborted where the run must end: every process of it is dead within 5 s, and `run` rejects. */
  signal: AbortSignal;
  /** Takes what the agent prints, as it comes. The runner bounds it (`outputLimitBytes`) and masks nothing: the log does. */
  log: (chunk: Uint8Array) => void;
};

export type AgentOutcome =
  | {
      kind: 'changed';
      /** A git pack, below `scratchDir`, with the objects of `tree` that `commit` doesn't have. To be checked before use. */
      packFile: string;
      /** The id of the tree as the agent left it. */
      tree: string;
    }
  | { kind: 'unchanged' }
  /** A sentence for the job's owner: a wrong exit, a limit that was passed, a tree that can't be stored. */
  | { kind: 'failed'; error: string };

export interface AgentRunner {
  /** What jobs report as `model`. */
  readonly model: string;
  /** Resolves for whatever the agent did; rejects only for what a retry may mend, and when aborted. */
  run(task: AgentTask): Promise<AgentOutcome>;
}
