/**
 * Port to what does the work: a coding agent's command line, or a model with tools. A runner gets a commit and returns
 * a tree. It never sees credentials, and nothing that it leaves behind is run or trusted outside.
 */

export type AgentTask = {
  jobId: string;
  /** 1 for the job's prompt; each follow-up message adds one. */
  run: number;
  /** Unchanged from the request. */
  prompt: string;
  /** A local bare repository that holds `commit`; read-only to the agent. */
  repositoryDir: string;
  /** The full id of the commit that the agent starts from. */
  commit: string;
  /** An empty folder for the runner's own files, results included. The caller removes it. */
  scratchDir: string;
  /** Aborted if the run must end: within 5 s all its processes are dead and `run` rejects. */
  signal: AbortSignal;
  /** Receives the agent's output in pieces. The runner limits it (`outputLimitBytes`); the log masks secrets. */
  log: (chunk: Uint8Array) => void;
};

export type AgentOutcome =
  | {
      kind: 'changed';
      /** A git pack below `scratchDir` with the objects of `tree` that `commit` doesn't have. Check it before use. */
      packFile: string;
      /** The id of the resulting tree. */
      tree: string;
    }
  | { kind: 'unchanged' }
  /** A sentence for the job's owner: a non-zero exit, an exceeded limit, a tree that can't be stored. */
  | { kind: 'failed'; error: string };

export interface AgentRunner {
  /** What jobs report as `model`. */
  readonly model: string;
  /** Resolves for anything the agent did. Rejects only if a retry may help, and when aborted. */
  run(task: AgentTask): Promise<AgentOutcome>;
}
