import { z } from 'zod';
import { mailRecord } from '../../contract/agent-state.ts';
import { publishEvent } from '../../contract/publish-event.ts';
import { siteSettings } from '../../contract/settings.ts';
import { siteError } from '../../contract/site-state.ts';
import { targetKind } from '../../contract/target-kind.ts';
import { createSeenDeliveries, isWholeBucket, type SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import {
  exceedsMaxInput,
  limitSeenDeliveries,
  MAX_INPUT_BYTES,
  type ReadonlyState,
  sizeBytes,
} from '../entity/continue-as-new.ts';
import { incident } from '../mails/notify-operators.ts';
import { outbox } from '../notifications/outbox.ts';
import { fitHistories, histories, noHistories } from './histories.ts';

/**
 * What a site keeps from one run to the next. Everything is bounded, because the input of a run is. Numbers ending in `Ms`
 * are times of the workflow's clock; texts are RFC 3339. `transitions.ts` and `targets.ts` change it.
 */

const ms = z.number();
const jobId = z.string().min(1).max(500);
const version = z.string().max(200).nullable();

const pending = z.object({
  /** Publishes not yet exported; 0 if only a person or a lost bundle requested an export. */
  count: z.int().min(0),
  /** The oldest publish not yet exported, including failed and replaced exports: `maxWait` keeps it from starving. */
  oldestAtMs: ms,
  /** When the present burst began, and its newest publish. */
  firstAtMs: ms,
  lastAtMs: ms,
  /** The newest publish, for people. */
  newest: publishEvent.nullable(),
  /** Hashes of the waiting bodies of deliveries without an id (waiting-bodies.ts). */
  bodies: z.array(z.string().max(20)).max(1_000),
  /** Due at once: requested by a person, or the retry of a failed export. */
  immediate: z.boolean(),
  /** The `traceparent` of their requests, if traces are on (tracing/span.ts). */
  traces: z.array(z.string().max(55)).max(20).optional(),
  /** The newest request, for people. */
  request: z.object({ by: z.string().max(200).nullable(), lostBundle: z.boolean() }).nullable(),
});
/** Publishes that wait to be exported. */
export type Pending = z.infer<typeof pending>;

const exporting = z.object({
  cycle: z.int(),
  attempt: z.int(),
  domain: z.string(),
  /** The next step. The next run, or the next attempt, continues with it. */
  stage: z.enum(['starting', 'polling', 'bundling', 'deploying']),
  jobId: jobId.nullable(),
  version,
  startedAtMs: ms,
  exportedAt: z.string().nullable(),
  /** What it exports; pending again if it fails. */
  publishes: pending,
  /** The service can't cancel it: don't ask again. */
  uncancellable: z.boolean(),
  /** A cancel was requested, so a failure is expected. */
  cancelling: z.boolean(),
  /** The same for every attempt to start this export; null before the first. */
  idempotencyKey: z.string().max(200).nullable(),
  /** When the service created the job; null if unknown. */
  createdAt: z.string().nullable(),
});
export type Exporting = Readonly<z.infer<typeof exporting>>;

/** The link of a job, without its URL, which is used once only. Its lifetime is 0 before the first one. */
const link = z.object({
  jobId,
  expiresAt: z.string().nullable(),
  obtainedAtMs: ms,
  lifetimeMs: ms,
  /** Failed attempts to refresh it, and the time of the next one. */
  failures: z.int(),
  notBeforeMs: ms,
});
export type JobLink = Readonly<z.infer<typeof link>>;

/** A deployment after the last write. */
const target = z.object({
  /** Its name; a values file's is its path. */
  valuesFile: z.string(),
  kind: targetKind,
  /** The machine whose workers write it; null: any worker. */
  host: z.string().nullable(),
  /** Whether a write is under way that nothing waits for. It belongs to one run. */
  writing: z.boolean(),
  jobId: jobId.nullable(),
  version,
  updatedAt: z.string().nullable(),
  /** The operator's pin as last read. */
  pin: z.string().max(200).nullable(),
  held: z.boolean(),
  /** The operator switched it off after an earlier deploy. */
  off: z.boolean(),
  /** The pin for which the service's list of jobs was searched, and when to repeat a search that failed. */
  searchedPin: z.string().nullable(),
  searchAgainAtMs: ms.nullable(),
  /** The job that its status must serve; null if nothing is confirmed. */
  confirmation: z.object({ jobId, sinceMs: ms, servedAt: z.string().nullable(), late: z.boolean() }).nullable(),
  error: z.string().nullable(),
  failedAt: z.string().nullable(),
  failures: z.int(),
  retryAtMs: ms.nullable(),
});
export type MutableDeployment = z.infer<typeof target>;
export type SiteDeployment = Readonly<MutableDeployment>;

const continueAsNewInput = z.object({
  format: z.literal(1),
  /** The last known settings. */
  settings: siteSettings.nullable(),
  /** Why the last read of the settings failed. */
  unconfigured: siteError.nullable(),
  /** When the first run of the workflow began. */
  epochMs: z.int(),
  /** Number the exports, and the attempts of one. */
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
  /** The deployed job. */
  live: z
    .object({
      jobId,
      version,
      exportedAt: z.string(),
      rolledBack: z.boolean(),
      createdAt: z.string().nullable(),
    })
    .nullable(),
  /** The newest exported job, which a rollback doesn't change. */
  newest: z.object({ jobId, version, exportedAt: z.string(), createdAt: z.string().nullable() }).nullable(),
  /** The old job that the service returned instead of a new one; null after the next export (older-job.ts). */
  olderJobId: jobId.nullable(),
  /** The export that a guard holds until it is approved, rejected or replaced. */
  review: z
    .object({
      jobId,
      version,
      exportedAt: z.string(),
      createdAt: z.string().nullable(),
      at: z.string(),
      reasons: z.array(z.string().max(500)).max(10),
      mails: z.array(mailRecord).max(100),
    })
    .nullable(),
  /** The version that a deployment didn't serve in time, until the next one is deployed. */
  notServed: z
    .object({
      jobId,
      version,
      at: z.string(),
      message: z.string().max(500),
      /** Whether the automatic rollback ended, and its version if it succeeded. */
      tried: z.boolean(),
      rolledBackTo: version,
      mails: z.array(mailRecord).max(100),
    })
    .nullable(),
  links: z.array(link).max(100),
  /** Jobs and their versions, newest first, to find the job of a pin. */
  jobs: z.array(z.object({ jobId, version: z.string(), exportedAt: z.string().nullable() })).max(50),
  targets: z.array(target),
  /** The present failure and the mails about it. */
  trouble: incident.nullable(),
  /** What is reported to the targets of `notify`. */
  outbox,
  /** The newest publish that was reported, and the job last reported as served. */
  reportedPublishMs: ms,
  reportedServed: jobId.nullable(),
  exportError: siteError.nullable(),
  refreshError: siteError.nullable(),
  /** The duration of the last refresh, and the job whose bundle is gone, for which a new export was requested. */
  refresh: z.object({ tookMs: ms, goneJobId: jobId.nullable() }),
  histories,
  seen: z.array(z.object({ hour: z.int(), entries: z.string() }).refine(isWholeBucket, 'cut in the middle of an id')),
});
type ContinueAsNewInput = z.infer<typeof continueAsNewInput>;

export type MutableState = Omit<ContinueAsNewInput, 'seen'>;
export type State = ReadonlyState<MutableState>;

export function newState(nowMs: number): MutableState {
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
    review: null,
    notServed: null,
    links: [],
    jobs: [],
    targets: [],
    trouble: null,
    outbox: [],
    reportedPublishMs: 0,
    reportedServed: null,
    exportError: null,
    refreshError: null,
    refresh: { tookMs: 0, goneJobId: null },
    histories: noHistories(),
  };
}

/** The most bytes of all histories. With ordinary texts, full ones take about 110 kB. */
const MAX_HISTORIES_BYTES = 160_000;

/**
 * The input of the next run. If it is too large, the oldest records of the histories are dropped, then the oldest seen
 * deliveries.
 */
export function serializeState(state: State, seen: SeenDeliveries): ContinueAsNewInput {
  const none = fitHistories(state.histories, 0);
  const input = continueAsNewInput.parse({ ...state, histories: none, seen: seen.toBuckets() });
  const roomBytes = Math.min(MAX_INPUT_BYTES - sizeBytes(input) + sizeBytes(none), MAX_HISTORIES_BYTES);
  const limited = limitSeenDeliveries({ ...input, histories: fitHistories(state.histories, roomBytes) }, seen);
  return exceedsMaxInput(limited) ? { ...limited, jobs: [] } : limited;
}

/** Throws if it can't read the input. That fails the workflow task, so nothing is lost until a fixed release runs. */
export function restoreState(input: unknown): { state: MutableState; seen: SeenDeliveries } {
  const { seen, ...state } = continueAsNewInput.parse(input);
  for (const each of state.targets) each.writing = false;
  return { state, seen: createSeenDeliveries(seen) };
}
