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
  /** When the service made the job (RFC 3339); null if it doesn't tell. Releases before 0.2 left it out. */
  createdAt?: string | null;
  /** The site has deployed to this file before, so a false `enabled` is the operator's. */
  deployedBefore?: boolean;
  /** A person chose this job by a rollback: it may be older than the newest one that was deployed. */
  rolledBack?: boolean;
};

/** How a deployment stands after a write, or after a refused one. */
export type DeploymentReport = {
  outcome:
    | 'written'
    /** A newer write was there already, or the refreshed job is no longer the deployed one. */
    | 'superseded'
    /** A newer job was deployed already: nothing was written. */
    | 'older'
    /** The operator's pin names another version: nothing was written. */
    | 'held'
    /** The job was meant for a pin that is gone or has changed: nothing was written. */
    | 'unpinned';
  /** The operator's `version`, null without one. */
  pin: string | null;
  /** The operator switched the deployment off after an earlier deploy. Releases before 0.2 left it out. */
  off?: boolean;
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
  /** What the operator has set, as it stands now. */
  readSwitches(): Promise<Switches>;
};

/** What an operator sets: the pin (null without one), and whether `enabled` is false. */
export type Switches = { pin: string | null; off: boolean };
