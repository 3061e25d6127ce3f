/** How far an export is, `progress` in percent. A figure below the one reported before changes nothing. */
export type Progress = { progress: number; pageCount: number };

/** Reports that the export is alive without changing a figure. */
export const NO_PROGRESS: Progress = { progress: 0, pageCount: 0 };

export type StageRun = {
  /** Fires when the stage must end: its job was canceled, its process stops, or the job's row is gone. */
  signal: AbortSignal;
  /** Identifies this attempt's leases. */
  token: string;
  /** The tokens of earlier attempts, which are dead but may still hold leases. */
  previousAttemptTokens: readonly string[];
  /** Reports progress at once. Throws if the job has ended. */
  report(progress: Progress): Promise<void>;
};

/**
 * Runs one stage of a job. While `work` runs, the runner shows `details` and asks for `progress` about every second,
 * never twice at the same time, and fails the stage if the job was canceled or has ended.
 */
export type RunStage = <Result>(
  options: { jobId: string; details: () => unknown; progress?: () => Promise<Progress> },
  work: (run: StageRun) => Promise<Result>,
) => Promise<Result>;
