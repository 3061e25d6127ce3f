import { z } from 'zod';
import { mailRecord } from './agent-state.ts';

/**
 * Where a site stands. `held`: the operator's pin names another version than the newest. `off`: every deployment is.
 * `unconfigured`: no worker that was asked has the site in its galley.yaml, so the last known settings stay in force.
 */
export const sitePhase = z.enum([
  'idle',
  'debouncing',
  'exporting',
  'bundling',
  'deploying',
  'live',
  'held',
  'off',
  'paused',
  'failed',
  'unconfigured',
]);
export type SitePhase = z.infer<typeof sitePhase>;

/** `status` is the HTTP status of the refusing service, null where there was none. */
export const siteError = z.object({ message: z.string(), status: z.int().nullable(), at: z.string() });
export type SiteError = z.infer<typeof siteError>;

/**
 * What became of a verified delivery. `started`: its burst's first; `coalesced`: exported with others; `duplicate`: a
 * resend; `filtered`: it concerns nothing; `verified`: no more is known than that, or nothing more is to be told.
 */
export const deliveryOutcome = z.enum(['verified', 'started', 'coalesced', 'duplicate', 'filtered']);

export const deliveryRecord = z.object({
  id: z.string(),
  source: z.string(),
  at: z.string(),
  outcome: deliveryOutcome,
  /** Who holds it; null where nobody does. */
  workflowId: z.string().nullable(),
  /** The sender's own word for what happened, where it is still known. */
  topic: z.string().optional(),
  /** What kept it from a workflow. */
  why: z.string().optional(),
});
export type DeliveryRecord = z.infer<typeof deliveryRecord>;

export const deploymentState = z.object({
  valuesFile: z.string(),
  jobId: z.string().nullable(),
  version: z.string().nullable(),
  updatedAt: z.string().nullable(),
  held: z.boolean(),
  /** The operator's pin, as last read from the values file. Releases before 0.2 gave none. */
  pin: z.string().nullable().default(null),
  /** The operator set `enabled: false` after an earlier deploy. Releases before 0.2 gave none. */
  off: z.boolean().default(false),
  error: z.string().nullable(),
});
export type DeploymentState = z.infer<typeof deploymentState>;

/** The answer of `GET /sites/{site}` and of the query `state`. Times are RFC 3339. */
export const siteState = z.object({
  site: z.string(),
  phase: sitePhase,
  /** The job being exported, else the one deployed. */
  jobId: z.string().nullable(),
  version: z.string().nullable(),
  linkExpiresAt: z.string().nullable(),
  exportedAt: z.string().nullable(),
  /** The newest version while a rollback keeps it from being served. Releases before 0.2 gave none. */
  withheld: z.object({ version: z.string().nullable(), exportedAt: z.string() }).nullable().default(null),
  nextRefreshAt: z.string().nullable(),
  lastError: siteError.nullable(),
  deployments: z.array(deploymentState),
  /** Publishes that wait to be exported. Releases before 0.2 gave none. */
  pendingCount: z.int().default(0),
  /** The newest deliveries first, a bounded number. */
  deliveries: z.array(deliveryRecord),
  /** Where operators get mail: since when something is wrong, and what became of each mail about it. */
  trouble: z
    .object({ since: z.string(), mails: z.array(mailRecord) })
    .nullable()
    .default(null),
  /** Live progress of the running export where the Admin API tells it; read by describe, so null in the query. */
  progress: z.object({ percent: z.number().nullable(), pageCount: z.number().nullable() }).nullable(),
});
export type SiteState = z.infer<typeof siteState>;
