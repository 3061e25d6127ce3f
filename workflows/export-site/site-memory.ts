import { z } from 'zod';
import { publishEvent } from '../../contract/publish-event.ts';
import { siteSettings } from '../../contract/settings.ts';
import { deliveryRecord, siteError } from '../../contract/site-state.ts';
import { isWholeBucket } from '../deliveries/seen-deliveries.ts';
import { trouble } from '../mails/tell-operators.ts';

/**
 * What a site's workflow remembers from one run to the next. Everything is bounded, because a run's input is. Times in
 * milliseconds are the workflow's own clock; texts are RFC 3339.
 */

const ms = z.number();
const jobId = z.string().min(1).max(500);
const version = z.string().max(200).nullable();

const pending = z.object({
  count: z.int().min(0),
  oldestAtMs: ms,
  firstAtMs: ms,
  lastAtMs: ms,
  newest: publishEvent.nullable(),
  /** Releases before 0.2 carried none. */
  bodies: z.array(z.string().max(20)).max(1_000).default([]),
  immediate: z.boolean(),
});

/** An export on its way. It goes on in the next run, or after trouble, where it stopped. */
const exporting = z.object({
  cycle: z.int(),
  attempt: z.int(),
  domain: z.string(),
  stage: z.enum(['starting', 'polling', 'bundling', 'deploying']),
  jobId: jobId.nullable(),
  version,
  startedAtMs: ms,
  exportedAt: z.string().nullable(),
  /** What it exports, to be put back where it fails. */
  publishes: pending,
  /** The service has no way to cancel: asked once is enough. */
  uncancellable: z.boolean(),
  /** The service was asked to cancel it: should it now fail, that is why. */
  cancelling: z.boolean(),
  /** Repeated by every attempt to start this one export; null before the first. Releases before 0.2 carried none. */
  idempotencyKey: z.string().max(200).nullable().default(null),
  /** When the service made the job; null if it doesn't tell. */
  createdAt: z.string().nullable().default(null),
});
export type Exporting = z.infer<typeof exporting>;

/**
 * A link that is in use, without the link itself: nothing needs to know it twice. Before the first one was obtained its
 * lifetime is 0. `failures` counts the vain tries to renew it, of which the next one is at `notBeforeMs`.
 */
const link = z.object({
  jobId,
  expiresAt: z.string().nullable(),
  obtainedAtMs: ms,
  lifetimeMs: ms,
  failures: z.int(),
  notBeforeMs: ms,
});
export type Link = z.infer<typeof link>;

/** One deployment as this workflow left it. */
const target = z.object({
  valuesFile: z.string(),
  jobId: jobId.nullable(),
  version,
  updatedAt: z.string().nullable(),
  /** The operator's pin as last seen. */
  pin: z.string().max(200).nullable(),
  held: z.boolean(),
  /** The operator switched it off after an earlier deploy. Releases before 0.2 carried none. */
  off: z.boolean().default(false),
  /** The pin for which the service's list of jobs was searched. */
  searchedPin: z.string().nullable(),
  /** When to repeat a search that failed. Releases before 0.2 carried none. */
  searchAgainAtMs: ms.nullable().default(null),
  error: z.string().nullable(),
  failedAt: z.string().nullable(),
  failures: z.int(),
  retryAtMs: ms.nullable(),
});
export type Target = z.infer<typeof target>;

export const siteMemory = z.object({
  format: z.literal(1),
  /** As a worker told them last; null before. Releases before 0.2 carried none. */
  settings: siteSettings.nullable().default(null),
  /** Why no worker told them when they were asked for last. */
  unconfigured: siteError.nullable().default(null),
  /** When the chain of runs began. */
  epochMs: z.int(),
  /** Numbers the exports, and the tries of one. Earlier releases made the idempotency key of both. */
  cycle: z.int(),
  attempt: z.int(),
  /** Numbers the writes to the deployments. */
  sequence: z.int(),
  paused: z.boolean(),
  pending: pending.nullable(),
  exporting: exporting.nullable(),
  backOff: z
    .object({ untilMs: ms, notBeforeMs: ms, failures: z.int(), keyRefused: z.boolean(), waiting: z.boolean() })
    .nullable(),
  live: z
    .object({
      jobId,
      version,
      exportedAt: z.string(),
      rolledBack: z.boolean(),
      createdAt: z.string().nullable().default(null),
    })
    .nullable(),
  /** The newest export that a publish brought, which a rollback doesn't change. Releases before 0.2 carried none. */
  newest: z
    .object({ jobId, version, exportedAt: z.string(), createdAt: z.string().nullable() })
    .nullable()
    .default(null),
  /** The old job that the service last gave instead of a new one; null after the next export (older-job.ts). */
  olderJobId: jobId.nullable().default(null),
  links: z.array(link).max(100),
  /** Jobs and the versions they made, newest first: where a pin's job is found. Releases before 0.2 carried no times. */
  jobs: z.array(z.object({ jobId, version: z.string(), exportedAt: z.string().nullable().default(null) })).max(50),
  targets: z.array(target),
  /** Since when something is wrong, and what became of the mails about it. Earlier releases carried none. */
  trouble: trouble.nullable().default(null),
  exportError: siteError.nullable(),
  refreshError: siteError.nullable(),
  /** What the last refresh took, and the job whose loss a new export was asked for. */
  refresh: z.object({ tookMs: ms, goneJobId: jobId.nullable() }),
  deliveries: z.array(deliveryRecord).max(20),
  seen: z.array(z.object({ hour: z.int(), entries: z.string() }).refine(isWholeBucket, 'cut in the middle of an id')),
});

/** As carried: see carry.ts. */
export type CarriedMemory = z.infer<typeof siteMemory>;

/** As worked with: the seen deliveries stand beside it. */
export type SiteMemory = Omit<CarriedMemory, 'seen'>;

export function freshMemory(nowMs: number): SiteMemory {
  return {
    format: 1,
    settings: null,
    unconfigured: null,
    epochMs: nowMs,
    cycle: 1,
    attempt: 1,
    sequence: 0,
    paused: false,
    pending: null,
    exporting: null,
    backOff: null,
    live: null,
    newest: null,
    olderJobId: null,
    links: [],
    jobs: [],
    targets: [],
    trouble: null,
    exportError: null,
    refreshError: null,
    refresh: { tookMs: 0, goneJobId: null },
    deliveries: [],
  };
}
