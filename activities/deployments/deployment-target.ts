/** One link to be written to one deployment. */
export type DeploymentWrite = {
  /** When the site's chain of runs began, in milliseconds: a site that was removed and came back writes over the old one's. */
  epoch: number;
  /** Counts the writes of one epoch; a lower one never overwrites a higher one. */
  sequence: number;
  /** `deploy` may change the job that is served; `refresh` counts only for the job that is deployed. */
  kind: 'deploy' | 'refresh';
  jobId: string;
  version: string | null;
  /** True for the site's newest job; false where an operator's pin asks for this one. */
  newest: boolean;
  bundleUrl: string;
};

/** How a deployment stands after a write, or after a refused one. */
export type DeploymentReport = {
  outcome:
    | 'written'
    /** A newer write was there already, or the refreshed job is no longer the deployed one. */
    | 'superseded'
    /** The operator's pin names another version: nothing was written. */
    | 'held'
    /** The job was meant for a pin that is gone or has changed: nothing was written. */
    | 'unpinned';
  /** The operator's `version`, null without one. */
  pin: string | null;
  /** The job whose link stands there now, null where that isn't known. */
  jobId: string | null;
  /** The newest write that the deployment has seen, null before the first. */
  newest: { epoch: number; sequence: number } | null;
};

/**
 * The port to whatever serves a bundle. An implementation never lets an older write replace a newer one and may be
 * called twice with the same write.
 */
export type DeploymentTarget = {
  write(write: DeploymentWrite): Promise<DeploymentReport>;
  /** The operator's pin as it stands now, null without one. */
  readPin(): Promise<string | null>;
};
