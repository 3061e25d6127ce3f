import { z } from 'zod';
import { staticExportForm } from '../../contract/admin-api.ts';
import { mailRecord } from '../../contract/agent-state.ts';
import { publishEvent } from '../../contract/publish-event.ts';
import { deploymentSettings, siteSettings } from '../../contract/settings.ts';
import { siteError } from '../../contract/site-state.ts';
import { createSeenDeliveries, isWholeBucket, type SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { limitSeenDeliveries, MAX_INPUT_BYTES, type ReadonlyState, sizeBytes } from '../entity/continue-as-new.ts';
import { incident } from '../mails/notify-operators.ts';
import { outbox } from '../notifications/outbox.ts';
import { fitHistories, histories, noHistories } from './histories.ts';

/**
 * What a site keeps from one run to the next. Everything is bounded, because the input of a run is. Numbers ending in `Ms`
 * are times of the workflow's clock; texts are RFC 3339. `transitions.ts` and
 * `deployments.ts` change it.
 */

const ms = z.number();
const jobId = z.string().min(1).max(500);
const version = z.string().max(200).nullable();
const reasonText = z.string().max(500).nullable();

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
  stage: z.enum(['starting', 'polling', 'bundling']),
  jobId: jobId.nullable(),
  version,
  startedAtMs: ms,
  exportedAt: z.string().nullable(),
  /** What it exports; pending again if it fails. */
  publishes: pending,
  /** `accepted` of the site when it began. */
  upTo: z.int(),
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

/** An exported job. */
const job = z.object({
  jobId,
  version,
  /** Null if the service didn't say it. */
  domain: z.string().nullable(),
  /** When the service created it; null if unknown. Deployments compare it. */
  createdAt: z.string().nullable(),
  exportedAt: z.string().nullable(),
  /** How many publishes and requests the site had accepted when the export took them: the order of jobs. 0: unknown. */
  upTo: z.int(),
  /** The oldest publish that it collected; null if none. */
  oldestPublishMs: ms.nullable(),
  /** The `traceparent` of its first publish, if traces are on (tracing/span.ts). */
  trace: z.string().max(55).optional(),
  /** Shows it for a day to who decides about it, if the service has previews. */
  previewUrl: z.string().optional(),
});
export type Job = Readonly<z.infer<typeof job>>;

/** A link without its URL, which is never kept. `lifetimeMs` counts from when it was obtained. */
const link = z.object({ expiresAt: z.string().nullable(), obtainedAtMs: ms, lifetimeMs: ms });
export type HeldLink = Readonly<z.infer<typeof link>>;

const writer = z.object({ site: z.string().max(200), epoch: z.int(), sequence: z.int() });

const deployment = deploymentSettings.extend({
  /** The operator's pin, and whether the operator switched it off after an earlier deploy, as last read. */
  pin: z.string().max(200).nullable(),
  off: z.boolean(),
  /** The jobs that a person approved or rejected last, for this deployment. */
  approved: jobId.nullable(),
  rejected: jobId.nullable(),
  /** The job that it was seen not to serve, until a newer one is there. */
  withheld: z.object({ jobId, why: z.string().max(500), at: z.string() }).nullable(),
  /**
   * Orders its writes: the epoch rises with each takeover, the sequence with each write. `takeover`: the writer that the next
   * write replaces, if nothing was written meanwhile.
   */
  fence: z.object({ epoch: z.int(), sequence: z.int(), takeover: writer.nullable() }),
  /** The last job whose write was begun. It stays the desired one while a newer one waits. */
  begun: jobId.nullable(),
  /** The last completed write; `at` is null if another chain of runs made it. */
  written: z
    .object({
      jobId,
      version,
      at: z.string().nullable(),
      tookMs: ms,
      link: link.nullable(),
      bundlePath: z.string().nullable(),
    })
    .nullable(),
  /** The open pull request with a version that isn't merged yet, and the write that it waits for. */
  proposed: z
    .object({
      jobId,
      version,
      url: z.string().max(2_000).nullable(),
      link: link.nullable(),
      epoch: z.int(),
      sequence: z.int(),
    })
    .nullable(),
  /** What its own status says of the written job. */
  answer: z
    .object({
      jobId,
      verdict: z.enum(['served', 'other', 'unknown']),
      at: z.string(),
      why: z.string().max(500).nullable(),
    })
    .nullable(),
  /** The last job that it was seen to serve; without a `statusUrl`, that was written. */
  lastGood: jobId.nullable(),
  /** Why the last write failed, and when it is repeated. */
  trouble: z.object({ jobId, failures: z.int(), notBeforeMs: ms, error: siteError }).nullable(),
  /** The search for the job of a pin: `againAtMs` if it has to be repeated, `versions` if there is no such job. */
  pinSearch: z.object({ pin: z.string(), againAtMs: ms.nullable(), versions: z.array(z.string()).max(20) }).nullable(),
});
export type MutableDeployment = z.infer<typeof deployment>;
export type Deployment = ReadonlyState<MutableDeployment>;

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
  paused: z.boolean(),
  pending: pending.nullable(),
  exporting: exporting.nullable(),
  backOff: z
    .object({ untilMs: ms, notBeforeMs: ms, failures: z.int(), keyRefused: z.boolean(), waiting: z.boolean() })
    .nullable(),
  /** Counts the accepted publishes and requests. */
  accepted: z.int(),
  /** The exported jobs, newest first. Those in use are never dropped. */
  jobs: z.array(job).max(1_000),
  /** The newest exported job that no guard holds. */
  newest: jobId.nullable(),
  /** An operator's rollback. It ends with the first job that has more than `after`, or with a lock. */
  rollback: z.object({ jobId, after: z.int(), by: z.string(), at: z.string(), reason: reasonText }).nullable(),
  /** Deployments keep their job of `keeps`; those that came later get `jobId`. */
  lock: z
    .object({
      by: z.string(),
      at: z.string(),
      reason: reasonText,
      jobId: jobId.nullable(),
      keeps: z.record(z.string(), jobId.nullable()),
    })
    .nullable(),
  /** Publishes up to this count were settled by a rollback. */
  settled: z.int(),
  /** The jobs whose link couldn't be had; `gone`: for good. */
  linkTrouble: z.record(jobId, z.object({ failures: z.int(), notBeforeMs: ms, gone: z.boolean(), error: siteError })),
  /** The job instead of which an export was requested. */
  replacedJobId: jobId.nullable(),
  /** Links that are older are refreshed at once. */
  refreshAskedMs: ms,
  deployments: z.array(deployment),
  /** The old job that the service returned instead of a new one; null after the next export (older-job.ts). */
  olderJobId: jobId.nullable(),
  /** The export that a guard holds until it is approved, rejected or replaced. */
  review: job.extend({ at: z.string(), reasons: z.array(z.string().max(500)).max(10) }).nullable(),
  /** The mails about each notice that stands, by its key (notices.ts). */
  notices: z.record(z.string(), z.array(mailRecord).max(100)),
  /** The present failure and the mails about it. */
  trouble: incident.nullable(),
  /** What is reported to the targets of `notify`. */
  outbox,
  /** The newest publish that was reported, and the job last reported as served. */
  reportedPublishMs: ms,
  reportedServed: jobId.nullable(),
  exportError: siteError.nullable(),
  /** It waits for a start that a limit allows. */
  startWait: z.object({ byPerson: z.boolean(), granted: z.boolean() }).nullable().default(null),
  /** A 429 has taught that starts are limited. */
  startsLimited: z.boolean().default(false),
  /** The Admin API's form of static export, as of the last start; null before. */
  form: staticExportForm.nullable().default(null),
  /** The guards that the service gave nothing to check the last export by. */
  guardsNotChecked: z.array(z.string().max(50)).max(10).default([]),
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
    paused: false,
    pending: null,
    exporting: null,
    backOff: null,
    accepted: 0,
    jobs: [],
    newest: null,
    rollback: null,
    lock: null,
    settled: 0,
    linkTrouble: {},
    replacedJobId: null,
    refreshAskedMs: 0,
    deployments: [],
    olderJobId: null,
    review: null,
    notices: {},
    trouble: null,
    outbox: [],
    reportedPublishMs: 0,
    reportedServed: null,
    exportError: null,
    startWait: null,
    startsLimited: false,
    form: null,
    guardsNotChecked: [],
    histories: noHistories(),
  };
}

/** The most bytes of all histories. With ordinary texts, full ones take about 110 kB. */
const MAX_HISTORIES_BYTES = 160_000;
/** The least, even if that costs seen deliveries: people need the newest records most when everything fails. */
const MIN_HISTORIES_BYTES = 40_000;

/**
 * The input of the next run. If it is too large, most records of the histories are dropped, oldest first, then the oldest seen
 * deliveries.
 */
export function serializeState(state: State, seen: SeenDeliveries): ContinueAsNewInput {
  const none = fitHistories(state.histories, 0);
  const input = continueAsNewInput.parse({ ...state, histories: none, seen: seen.toBuckets() });
  const leftBytes = MAX_INPUT_BYTES - sizeBytes(input) + sizeBytes(none);
  const roomBytes = Math.max(Math.min(leftBytes, MAX_HISTORIES_BYTES), MIN_HISTORIES_BYTES);
  const limited = limitSeenDeliveries({ ...input, histories: fitHistories(state.histories, roomBytes) }, seen);
  return limited;
}

/** Throws if it can't read the input. That fails the workflow task, so nothing is lost until a fixed release runs. */
export function restoreState(input: unknown): { state: MutableState; seen: SeenDeliveries } {
  const { seen, ...state } = continueAsNewInput.parse(input);
  return { state, seen: createSeenDeliveries(seen) };
}
