/** The last write that a deployment accepted: its site is the only one that may write. */
export type Owner = {
  site: string;
  epoch: number;
  sequence: number;
  /** When the link that it wrote expires (RFC 3339), and how long it was valid in all: the link is the site's lease. */
  expiresAt: string;
  lifetimeMs: number;
};

/** One link to write to one deployment. */
export type DeploymentWrite = {
  /** The site that writes. A deployment of another site is refused, whatever the epoch. */
  site: string;
  /** The deployment's own: rises with each takeover, and with each new chain of runs. */
  epoch: number;
  /** Counts the writes to the deployment; a lower one never overwrites a higher one of the same epoch. */
  sequence: number;
  /**
   * The owner to replace, as last reported. The write then has the epoch after the owner's, and is refused if anything was
   * written meanwhile. A restored workflow that is behind its own writes names its own site.
   */
  takeover?: Pick<Owner, 'site' | 'epoch' | 'sequence'> | undefined;
  /** `deploy` may change the served job; `refresh` only writes a new link of the deployed job. */
  kind: 'deploy' | 'refresh';
  jobId: string;
  version: string | null;
  /** True for the site's newest job; false if an operator's pin asks for this one. */
  newest: boolean;
  bundleUrl: string;
  /** The manifest that the bundle at the link must have (contract/integrity.ts); missing if unknown or not wanted. */
  integrity?: string | undefined;
  /** When the link expires (RFC 3339), and how long it is valid in all. */
  expiresAt: string;
  lifetimeMs: number;
  /** When the service created the job (RFC 3339); null if it doesn't say. */
  createdAt?: string | null;
  /** The site has deployed to this file before, so if `enabled` is false, an operator set it. */
  deployedBefore?: boolean;
  /** When the link expires that the workflow knows to be deployed (RFC 3339), of a refresh. */
  deployedLinkExpiresAt?: string | undefined;
  /** An operator rolled back to this job: it may be older than the newest deployed one. */
  rolledBack?: boolean;
};

/** A deployment's state after a write, or after a rejected one. */
export type DeploymentReport = {
  outcome:
    | 'written'
    /** A pull request with the change is open; `jobId` is what was merged last. */
    | 'proposed'
    /** People closed the pull request of this job without merging it: nothing was written. The next job gets another. */
    | 'closed'
    /** Another site owns the deployment: nothing was written. */
    | 'foreign'
    /** A newer write of this site came first, or the refreshed job is no longer deployed. */
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
  /** The pull request of `proposed` and `closed`; null if there is no forge to open one. */
  url?: string | null;
  /** Whose write is there now, for the next write's `epoch` or `takeover`; null before the first. */
  owner: Owner | null;
  /** Of `written`: the link that is there, if it isn't the write's. A person merged a pull request that had been closed. */
  link?: Pick<Owner, 'expiresAt' | 'lifetimeMs'>;
  /** Of a written link: by it, a deployment confirms a bundle without a manifest (bundle/fetch/link.ts). */
  bundlePath: string | null;
  /** What a person should repair in the values file, although it was written. */
  warning?: string;
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
  /** What became of a write that was `proposed`; missing if the kind never proposes. */
  readProposal?(order: Pick<Owner, 'epoch' | 'sequence'>, context: WriteContext): Promise<ProposalState>;
  /**
   * Finds out whether a write would succeed, for `galley doctor`. Changes nothing that stays, and calls no deploy hook.
   * Throws what a write would.
   */
  check?(context: WriteContext): Promise<TargetCheck>;
};

/** `closed`: it was not merged. */
export type ProposalState = 'open' | 'merged' | 'closed';

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
