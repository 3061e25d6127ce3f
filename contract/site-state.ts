import { z } from 'zod';
import { mailRecord } from './agent-state.ts';

/**
 * A site's phase. `held`: the operator's pin names another version than the newest. `off`: all deployments are.
 * `unconfigured`: no worker that was asked has the site in its galley.yaml, so the last known settings apply.
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

/** `status` is the HTTP status of the failed response, null if there was none. */
export const siteError = z.object({ message: z.string(), status: z.int().nullable(), at: z.string() });
export type SiteError = z.infer<typeof siteError>;

/**
 * The result of a verified delivery. `started`: first of its burst; `coalesced`: exported with others; `duplicate`: a
 * resend; `filtered`: not relevant; `verified`: anything else.
 */
const deliveryOutcome = z.enum(['verified', 'started', 'coalesced', 'duplicate', 'filtered']);

export const deliveryRecord = z.object({
  id: z.string(),
  source: z.string(),
  at: z.string(),
  outcome: deliveryOutcome,
  /** The workflow that has it; null if none. */
  workflowId: z.string().nullable(),
  /** The sender's own word for the event, if still known. */
  topic: z.string().optional(),
  /** Why no workflow has it. */
  why: z.string().optional(),
});
export type DeliveryRecord = z.infer<typeof deliveryRecord>;

const deploymentState = z.object({
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

/** The response of `GET /sites/{site}` and the result of the query `state`. Times are RFC 3339. */
export const siteState = z.object({
  site: z.string(),
  phase: sitePhase,
  /** The job being exported, otherwise the deployed one. */
  jobId: z.string().nullable(),
  version: z.string().nullable(),
  linkExpiresAt: z.string().nullable(),
  exportedAt: z.string().nullable(),
  /** The newest version if a rollback keeps it from being served. Releases before 0.2 gave none. */
  withheld: z.object({ version: z.string().nullable(), exportedAt: z.string() }).nullable().default(null),
  nextRefreshAt: z.string().nullable(),
  lastError: siteError.nullable(),
  deployments: z.array(deploymentState),
  /** Publishes waiting for an export. Releases before 0.2 gave none. */
  pendingCount: z.int().default(0),
  /** Newest first, limited. */
  deliveries: z.array(deliveryRecord),
  /** If operators get mail: since when something fails, and the outcome of each mail about it. */
  trouble: z
    .object({ since: z.string(), mails: z.array(mailRecord) })
    .nullable()
    .default(null),
  /** Progress of the running export if the Admin API gives it; read by describe, so null in the query. */
  progress: z.object({ percent: z.number().nullable(), pageCount: z.number().nullable() }).nullable(),
});
export type SiteState = z.infer<typeof siteState>;
