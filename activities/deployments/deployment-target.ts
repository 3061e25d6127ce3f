/** One link to write to one deployment. */
export type DeploymentWrite = {
  /**
   * When the site's chain of runs began, in milliseconds. A removed site that comes back overwrites the old one's link.
   */
  epoch: number;
  /** Counts the writes of one epoch; a lower one never overwrites a higher one. */
  sequence: number;
  /** `deploy` may change the served job; `refresh` only writes a new link of the deployed job. */
  kind: 'deploy' | 'refresh';
  jobId: string;
  version: string | null;
  /** True for the site's newest job; false if an operator's pin asks for this one. */
  newest: boolean;
  bundleUrl: string;
  /** When the link expires (RFC 3339); missing if unknown. */
  expiresAt?: string;
  /** When the service created the job (RFC 3339); null if it doesn't say. */
  createdAt?: string | null;
  /** The site has deployed to this file before, so if `enabled` is false, an operator set it. */
  deployedBefore?: boolean;
  /** An operator rolled back to this job: it may be older than the newest deployed one. */
  rolledBack?: boolean;
};

/** A deployment's state after a write, or after a rejected one. */
export type DeploymentReport = {
  outcome:
    | 'written'
    /** A newer write came first, or the refreshed job is no longer deployed. */
    | 'superseded'
    /** A newer job is deployed: nothing was written. */
    | 'older'
    /** The operator's pin names another version: nothing was written. */
    | 'held'
    /** The job was meant for a pin that has changed or is gone: nothing was written. */
    | 'unpinned';
  /** The operator's `version`; null without one. */
  pin: string | null;
  /** The operator switched the deployment off after an earlier deploy. */
  off: boolean;
  /** The job whose link the file has; null if unknown. */
  jobId: string | null;
  /** The newest write that the deployment has seen; null before the first. */
  newest: { epoch: number; sequence: number } | null;
};

type WriteContext = {
  site: string;
  /** Aborted if a newer write replaces this one, or the worker stops. */
  signal: AbortSignal;
};

/**
 * Port to what serves a bundle. An implementation may be called twice with the same write, and never lets an older write
 * replace a newer one if it can know. Its errors name no link: anyone who has it can read the bundle.
 */
export type DeploymentTarget = {
  write(write: DeploymentWrite, context: WriteContext): Promise<DeploymentReport>;
  /** The operator's current settings; missing if operators can set nothing there. */
  readSwitches?(signal: AbortSignal): Promise<Switches>;
  /**
   * Finds out whether a write would succeed, for `galley doctor`. Changes nothing that stays, and calls no deploy hook.
   * Throws what a write would.
   */
  check?(context: WriteContext): Promise<TargetCheck>;
};

/** What a check found. */
export type TargetCheck = {
  message: string;
  /** How to repair it; null if a write would succeed. */
  fix: string | null;
  /** A write may succeed nevertheless. */
  doubtful?: boolean;
};

/** A values file. Operators can pin a version in it or switch the deployment off. */
export type ValuesFileTarget = DeploymentTarget & {
  write(write: DeploymentWrite, context?: WriteContext): Promise<DeploymentReport>;
  readSwitches(): Promise<Switches>;
};

/** What an operator sets: the pin (null without one), and whether `enabled` is false. */
export type Switches = { pin: string | null; off: boolean };
