import { z } from 'zod';
import { staticExportForm } from './admin-api.ts';
import { mailRecord } from './agent-state.ts';
import { startPlace } from './start-gate.ts';
import { targetKind } from './target-kind.ts';

/**
 * A site's phase: the first of these that applies (`phaseOf` in workflows/export-site/status.ts). `waiting`: for a start that
 * a rate limit allows. `review`: an operator has to approve or reject a version. `confirming`: a deployment was written to and
 * isn't known to serve the version. `proposed`: a pull request with the change is open. `held`: an operator's pin names another
 * version than the newest. `off`: all deployments are. `unconfigured`: no worker that was asked has the site in its
 * galley.yaml, so the last known settings apply.
 */
export const sitePhase = z.enum([
  'idle',
  'debouncing',
  'exporting',
  'bundling',
  'waiting',
  'review',
  'deploying',
  'confirming',
  'live',
  'locked',
  'proposed',
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
  /** Why no workflow has it, or why no export will collect it. */
  why: z.string().optional(),
  /** The event, if still known: of deliveries that share a signal, only the newest has one. */
  title: z.string().max(200).optional(),
  author: z.string().optional(),
  action: z.enum(['publish', 'unpublish', 'other']).optional(),
  /** The export that collected it; null while it waits. Missing if it waits for none, or isn't known. */
  exportNumber: z.int().nullable().optional(),
});
export type DeliveryRecord = z.infer<typeof deliveryRecord>;

/** One export of a site. A failed one that is started again with a new job is another export. */
export const exportRecord = z.object({
  /** Counts the exports of the site, from 1. */
  number: z.int(),
  /** Null until the service has started it. */
  jobId: z.string().nullable(),
  version: z.string().nullable(),
  /** `lost-bundle`: the service no longer had the bundle of the deployed job. */
  trigger: z.enum(['publish', 'request', 'lost-bundle']),
  /** Publishes collected; 0 if there was only a request. */
  publishCount: z.int(),
  /** The title of the newest event. */
  title: z.string().nullable(),
  /** The author of the newest event, otherwise the operator who requested the export. */
  author: z.string().nullable(),
  /** The oldest publish, or the request. */
  requestedAt: z.string(),
  startedAt: z.string(),
  /** When the job completed. */
  exportedAt: z.string().nullable(),
  /** When it was first written to a deployment. */
  writtenAt: z.string().nullable(),
  /** When the first deployment with a `statusUrl` was seen to serve it. */
  servedAt: z.string().nullable(),
  /** When the job ended, or its export was given up. */
  endedAt: z.string().nullable(),
  /** When the first deployment went back to an earlier version. */
  rolledBackAt: z.string().nullable(),
  /**
   * How far it came; null while it is under way. `served` by every deployment that should have it, `written` to all of them if
   * none says what it serves, `partly`: some have it, and a newer one came. `superseded` before any had it. `held`: a guard
   * holds it, or no deployment takes new versions. `canceled` by a rollback or the removal of the site.
   */
  outcome: z.enum(['served', 'written', 'partly', 'superseded', 'held', 'rejected', 'failed', 'canceled']).nullable(),
  /** Why it failed, or why it is being tried again while it runs. */
  error: z.string().nullable(),
  pageCount: z.int().nullable(),
});
export type ExportRecord = z.infer<typeof exportRecord>;

/** One refresh of a link. `expiresAt` is the new link's; `error` says why there is none. */
export const refreshRecord = z.object({
  at: z.string(),
  version: z.string().nullable(),
  expiresAt: z.string().nullable(),
  error: z.string().nullable(),
});
export type RefreshRecord = z.infer<typeof refreshRecord>;

const actionName = z.enum([
  'export',
  'refresh',
  'pause',
  'resume',
  'rollback',
  'lock',
  'unlock',
  'rename',
  'approve',
  'reject',
  'remove',
  'run-again',
]);
export type ActionName = z.infer<typeof actionName>;

/** What an operator did. `detail`: for example the version of a rollback. `error`: why it failed. */
export const actionRecord = z.object({
  at: z.string(),
  actor: z.string(),
  action: actionName,
  detail: z.string().nullable(),
  error: z.string().nullable(),
});
export type ActionRecord = z.infer<typeof actionRecord>;

/** The payload of the signal `acted`. */
export const acted = actionRecord.omit({ at: true, error: true });
export type Acted = z.infer<typeof acted>;

/** How many of each a site's workflow keeps. */
export const HISTORY_LIMITS = { deliveries: 200, exports: 50, refreshes: 20, actions: 100 } as const;

/** What a deployment does. `waiting`: for the waves before its own, or for the first version. `approval`: for a person. */
export const deploymentStatus = z.enum([
  'waiting',
  'approval',
  'writing',
  'confirming',
  'unknown',
  'live',
  'proposed',
  'held',
  'off',
  'locked',
  'failed',
]);
export type DeploymentStatus = z.infer<typeof deploymentStatus>;

/** Why a deployment should have the version that it should have. */
export const desiredReason = z.enum([
  'newest',
  'pinned',
  'locked',
  'rolled-back',
  'withheld',
  'rejected',
  'waits-for-wave',
  'waits-for-approval',
  'nothing',
]);
export type DesiredReason = z.infer<typeof desiredReason>;

const deploymentState = z.object({
  /** By galley.yaml; otherwise its place: the path of a values file, a URL, a release. */
  name: z.string(),
  kind: targetKind,
  wave: z.int(),
  state: deploymentStatus,
  /** What is written. */
  version: z.string().nullable(),
  jobId: z.string().nullable(),
  /** What should be written, also while it waits for its wave or an approval. */
  desired: z.object({ version: z.string().nullable(), jobId: z.string().nullable(), reason: desiredReason }),
  /** The last write of the version, and the first time since then that it was seen served; null if not. */
  writtenAt: z.string().nullable(),
  servedAt: z.string().nullable(),
  /** Whether its status says that it serves the version; null without a `statusUrl`. */
  confirmed: z.boolean().nullable(),
  linkExpiresAt: z.string().nullable(),
  /** The operator's pin, as last read. */
  pin: z.string().nullable(),
  /** The operator set `enabled: false` after an earlier deploy. */
  off: z.boolean(),
  error: siteError.nullable(),
  /** What visitors open. */
  url: z.string().nullable(),
  /** The open pull request with the change. */
  proposal: z.string().nullable(),
});
export type DeploymentState = z.infer<typeof deploymentState>;

/** Why the oldest publish isn't served everywhere. */
export const unservedReason = z.enum([
  'debouncing',
  'exporting',
  'review',
  'waiting',
  'approval',
  'deploying',
  'confirming',
  'unknown',
  'failed',
  'locked',
  'paused',
  'unconfigured',
]);
export type UnservedReason = z.infer<typeof unservedReason>;

/** The response of `GET /sites/{site}` and the result of the query `state`. Times are RFC 3339. */
export const siteState = z.object({
  site: z.string(),
  phase: sitePhase,
  /** The newest export that at least one deployment should have. */
  jobId: z.string().nullable(),
  version: z.string().nullable(),
  linkExpiresAt: z.string().nullable(),
  exportedAt: z.string().nullable(),
  /** The newest version if a rollback keeps it from being served. */
  withheld: z.object({ version: z.string().nullable(), exportedAt: z.string() }).nullable(),
  /** Whether all deployments with a `statusUrl` serve the version; null if none has one. */
  confirmed: z.boolean().nullable(),
  /** The oldest publish that a deployment which should follow doesn't have yet, and the reason. */
  oldestUnserved: z.object({ at: z.string(), reason: unservedReason }).nullable(),
  /** Nothing new is deployed until an operator unlocks the site. */
  lock: z.object({ by: z.string(), at: z.string(), reason: z.string().nullable() }).nullable(),
  /** The export that a guard holds, and why. `previewUrl` shows it for a day, if the service has previews. */
  review: z
    .object({
      ...{ jobId: z.string(), version: z.string().nullable(), at: z.string(), reasons: z.array(z.string()) },
      previewUrl: z.string().optional(),
    })
    .nullable(),
  nextRefreshAt: z.string().nullable(),
  lastError: siteError.nullable(),
  /** When a failed export is tried again; null if none waits. */
  nextTryAt: z.string().nullable(),
  deployments: z.array(deploymentState),
  /** Publishes waiting for an export. */
  pendingCount: z.int(),
  /**
   * The histories, newest first, at most `HISTORY_LIMITS`.
   * Lists of sites and the results of actions have a few deliveries and none of the others.
   */
  deliveries: z.array(deliveryRecord),
  exports: z.array(exportRecord),
  refreshes: z.array(refreshRecord),
  actions: z.array(actionRecord),
  /** The Admin API's form of static export, as of the last start; null before. */
  form: staticExportForm.nullable().optional(),
  /** The guards that the service gave nothing to check the last export by. */
  guardsNotChecked: z.array(z.string()).optional(),
  /** Its place among the sites that wait for a start; read from the gate, so null in the query. */
  startPlace: startPlace.nullable().optional(),
  /** If operators get mail: since when something fails, and the outcome of each mail about it. */
  trouble: z.object({ since: z.string(), mails: z.array(mailRecord) }).nullable(),
  /** Progress of the running export if the Admin API gives it; read by describe, so null in the query. */
  progress: z.object({ percent: z.number().nullable(), pageCount: z.number().nullable() }).nullable(),
});
export type SiteState = z.infer<typeof siteState>;

/** The fields that `galley sites status` and the site's page show as they are, in this order. */
export const SHOWN_FIELDS = [
  { field: 'version', label: 'Version', type: 'version' },
  { field: 'exportedAt', label: 'Exported', type: 'time' },
  { field: 'linkExpiresAt', label: 'Link expires', type: 'time' },
  { field: 'nextRefreshAt', label: 'Next refresh', type: 'time' },
  { field: 'form', label: 'Static export', type: 'form' },
  { field: 'pendingCount', label: 'Waiting', type: 'publishes' },
] as const satisfies { field: keyof SiteState; label: string; type: string }[];

/** The state of a site that was never published. */
export function idleSiteState(site: string, deployments: SiteState['deployments']): SiteState {
  return {
    site,
    phase: 'idle',
    jobId: null,
    version: null,
    linkExpiresAt: null,
    exportedAt: null,
    withheld: null,
    confirmed: null,
    oldestUnserved: null,
    lock: null,
    review: null,
    nextRefreshAt: null,
    lastError: null,
    nextTryAt: null,
    deployments,
    pendingCount: 0,
    deliveries: [],
    exports: [],
    refreshes: [],
    actions: [],
    form: null,
    guardsNotChecked: [],
    trouble: null,
    progress: null,
  };
}

/** The memo field of a site's workflow that has a `SiteMemo`. */
export const SITE_MEMO = 'status';

/** The memo field of a site's workflow with the name that the site had before; missing if it was never renamed. */
export const RENAMED_FROM_MEMO = 'renamedFrom';

/** The memo of `renamedSite`. */
export const renamedMemo = z.object({ site: z.string(), to: z.string() });
export type RenamedMemo = z.infer<typeof renamedMemo>;

/**
 * What one visibility query returns about each site, for metrics and the watchdog. Times are RFC 3339.
 */
export const siteMemo = z.object({
  /** When the newest publish that a deployment serves arrived. */
  servedPublishAt: z.string().nullable(),
  /** See `SiteState`. */
  oldestUnserved: z.object({ at: z.string(), reason: unservedReason }).nullable(),
  /** When the link that expires first is due to be refreshed. */
  refreshDueAt: z.string().nullable(),
  /** The rest is in search attributes if the namespace has them. */
  phase: sitePhase.optional(),
  linkExpiresAt: z.string().nullable().optional(),
});
export type SiteMemo = z.infer<typeof siteMemo>;

/**
 * The optional argument of the query `state`: `brief` leaves the histories out, except a few deliveries. With the time, it
 * has the site's figures (`siteFigures`) too.
 */
export type StateQuery = { brief?: boolean; nowMs?: number };

/** A refresh is late only then: visibility lags behind, and a link may live for seconds only. */
const LATE_MS = 60_000;

/**
 * When the refresh of a site's link counts as late, for the watchdog and for alerts: half of the time between the due
 * refresh and the expiry is over, and at least a minute. Null if there is no link.
 */
export function linkLateAtMs({
  linkExpiresAtMs,
  refreshDueAtMs,
}: Pick<ListedSite, 'linkExpiresAtMs' | 'refreshDueAtMs'>): number | null {
  if (linkExpiresAtMs === null || refreshDueAtMs === null) return null;
  return Math.max((refreshDueAtMs + linkExpiresAtMs) / 2, refreshDueAtMs + LATE_MS);
}

/** A site with a workflow, as visibility shows it. Unknown values are undefined, missing ones null. */
export type ListedSite = {
  site: string;
  phase: SitePhase | undefined;
  linkExpiresAtMs: number | null;
  /** When that link is due to be refreshed. */
  refreshDueAtMs: number | null;
  /** When the newest served publish arrived. */
  servedPublishAtMs: number | null;
  /** When the oldest publish arrived that isn't served yet, and why it isn't. */
  oldestUnserved: { atMs: number; reason: UnservedReason } | null;
};
