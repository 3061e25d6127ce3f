import { z } from 'zod';
import { cutText } from '../../contract/cut-text.ts';
import type { DeliveryRef, PublishEvent } from '../../contract/publish-event.ts';
import {
  type ActionName,
  type ActionRecord,
  actionRecord,
  type DeliveryRecord,
  deliveryRecord,
  type ExportRecord,
  exportRecord,
  HISTORY_LIMITS,
  type RefreshRecord,
  refreshRecord,
} from '../../contract/site-state.ts';
import { sizeBytes } from '../entity/continue-as-new.ts';
import { follows } from './desired-version.ts';
import type { MutableState, Pending } from './state.ts';

/** What people see of a site's past, newest first. Nothing that the site does depends on it. */

/** Every record has the id of the same workflow, so the state doesn't repeat it. */
const delivery = deliveryRecord.omit({ workflowId: true });

export const histories = z.object({
  deliveries: z.array(delivery),
  exports: z.array(exportRecord),
  refreshes: z.array(refreshRecord),
  actions: z.array(actionRecord),
});
export type Histories = z.infer<typeof histories>;

const MAX_TITLE = 200;
const MAX_NAME = 100;
const MAX_MESSAGE = 300;
/** A service that is down for a week must not push every earlier export out. */
const MAX_FAILED_IN_A_ROW = 10;

export function noHistories(): Histories {
  return { deliveries: [], exports: [], refreshes: [], actions: [] };
}

/** `event` is null if the signal has only its id. A resend waits for no export. */
export function deliveryArrived(
  histories: Histories,
  ref: DeliveryRef,
  outcome: DeliveryRecord['outcome'],
  event: PublishEvent | null,
): void {
  const record = {
    id: short(ref.id, MAX_TITLE),
    source: short(ref.source, MAX_NAME),
    at: short(ref.receivedAt, 50),
    outcome,
    ...(event !== null && eventFields(event)),
    ...(outcome !== 'duplicate' && { exportNumber: null }),
  };
  histories.deliveries = [record, ...histories.deliveries].slice(0, HISTORY_LIMITS.deliveries);
}

function eventFields({ topic, title, author, action }: PublishEvent) {
  return {
    ...(topic !== '' && { topic: short(topic, MAX_NAME) }),
    ...(title !== '' && { title: short(title, MAX_TITLE) }),
    ...(author !== '' && { author: short(author, MAX_NAME) }),
    action,
  };
}

/** An export of everything that waits has begun. */
export function exportBegan(
  histories: Histories,
  { count, newest, oldestAtMs, request }: Pending,
  nowMs: number,
): void {
  const number = (histories.exports[0]?.number ?? 0) + 1;
  const { title = '', author = '' } = newest ?? {};
  const record: ExportRecord = {
    number,
    jobId: null,
    version: null,
    trigger: count > 0 ? 'publish' : request?.lostBundle ? 'lost-bundle' : 'request',
    publishCount: count,
    title: short(title, MAX_TITLE) || null,
    author: short(author, MAX_NAME) || request?.by || null,
    requestedAt: new Date(oldestAtMs).toISOString(),
    startedAt: new Date(nowMs).toISOString(),
    exportedAt: null,
    writtenAt: null,
    servedAt: null,
    endedAt: null,
    rolledBackAt: null,
    outcome: null,
    error: null,
    pageCount: null,
  };
  histories.exports = [record, ...withoutLongFailure(histories.exports)].slice(0, HISTORY_LIMITS.exports);
  collect(histories, null, number);
}

/** The export that runs has got further. */
export function exportContinued(histories: Histories, changes: Partial<ExportRecord>): void {
  const running = runningExport(histories);
  if (running !== undefined) Object.assign(running, changes);
}

/** The export whose job has not ended. */
function runningExport({ exports: [newest] }: Histories): ExportRecord | undefined {
  return newest?.endedAt === null ? newest : undefined;
}

/** The export may be tried again with the same job. */
export function exportHindered(histories: Histories, message: string): void {
  exportContinued(histories, { error: short(message, MAX_MESSAGE) });
}

/**
 * The export is over, as far as it concerns the service. `outcome` is null if deployments get it now.
 * @param waiting whether its publishes wait for another export
 */
export function exportEnded(
  histories: Histories,
  outcome: ExportRecord['outcome'],
  { waiting }: { waiting: boolean },
): void {
  const running = runningExport(histories);
  if (running === undefined) return;
  const error = outcome === 'failed' ? running.error : null;
  Object.assign(running, { endedAt: new Date().toISOString(), outcome, error });
  if (waiting) collect(histories, running.number, null);
}

/** A deployment has the job now. */
export function jobWritten(histories: Histories, jobId: string): void {
  const record = recordOf(histories, jobId);
  if (record !== undefined) record.writtenAt ??= new Date().toISOString();
}

/** The status of a deployment says that it serves the job. */
export function jobServed(histories: Histories, jobId: string, at: string): void {
  const record = recordOf(histories, jobId);
  if (record !== undefined) record.servedAt ??= at;
}

/** A deployment goes back from the job to an earlier one. */
export function jobRolledBack(histories: Histories, jobId: string, at: string): void {
  const record = recordOf(histories, jobId);
  if (record !== undefined) record.rolledBackAt ??= at;
}

/** What a person decided about an export that a guard holds, or what made it pointless to ask. Null: it is deployed. */
export function reviewEnded(histories: Histories, jobId: string, outcome: ExportRecord['outcome']): void {
  const record = recordOf(histories, jobId);
  if (record?.outcome === 'held') record.outcome = outcome;
}

function recordOf({ exports }: Histories, jobId: string): ExportRecord | undefined {
  return exports.find((each) => each.jobId === jobId);
}

/**
 * How far each export came, by what the deployments have now. An outcome that a later write can still improve is computed
 * again; one that says served or written stays, also after a rollback.
 */
export function settleOutcomes({ histories, jobs, newest, review, deployments }: Outcomes): void {
  const following = deployments.filter(follows);
  for (const record of histories.exports) {
    const { jobId, endedAt, outcome } = record;
    const isOpen = outcome === null || outcome === 'held' || outcome === 'partly' || outcome === 'superseded';
    if (!isOpen || jobId === null || endedAt === null || jobId === review?.jobId) continue;
    if (!jobs.some((job) => job.jobId === jobId)) continue;
    const having = following.filter((each) => each.written?.jobId === jobId);
    const done = having.filter((each) => each.lastGood === jobId);
    if (jobId === newest && following.length === 0) record.outcome = 'held';
    else if (following.length > 0 && following.every(({ rejected }) => rejected === jobId)) record.outcome = 'rejected';
    else if (following.length > 0 && done.length === following.length) {
      record.outcome = following.some(({ confirm }) => confirm !== null) ? 'served' : 'written';
    } else if (jobId === newest || having.length > 0) record.outcome = null;
    else record.outcome = record.writtenAt === null ? 'superseded' : 'partly';
  }
}

type Outcomes = Pick<MutableState, 'histories' | 'jobs' | 'newest' | 'review' | 'deployments'>;

/** No export will collect the deliveries that wait. */
export function waitingDropped(histories: Histories, why: string): void {
  histories.deliveries = histories.deliveries.map(({ exportNumber, ...rest }) => {
    return exportNumber === null ? { ...rest, why } : { ...rest, ...(exportNumber !== undefined && { exportNumber }) };
  });
}

/** A failure that repeats is listed once, with its newest time. */
export function refreshEnded(histories: Histories, { version, expiresAt, error }: Omit<RefreshRecord, 'at'>): void {
  const { refreshes } = histories;
  const at = new Date().toISOString();
  const added = { at, version, expiresAt, error: error === null ? null : short(error, MAX_MESSAGE) };
  const [newest, ...older] = refreshes;
  const repeated = added.error !== null && newest?.error === added.error && newest.version === added.version;
  histories.refreshes = [added, ...(repeated ? older : refreshes)].slice(0, HISTORY_LIMITS.refreshes);
}

/** Returns the record, for the error of an action that fails later. */
export function actionBegan(
  histories: Histories,
  action: { action: ActionName; actor: string; detail: string | null },
): ActionRecord {
  const detail = action.detail === null ? null : short(action.detail, MAX_TITLE);
  const actor = short(action.actor, MAX_TITLE);
  const record = { at: new Date().toISOString(), action: action.action, actor, detail, error: null };
  histories.actions = [record, ...histories.actions].slice(0, HISTORY_LIMITS.actions);
  return record;
}

export function actionFailed(record: ActionRecord, message: string): void {
  record.error = short(message, MAX_MESSAGE);
}

/** Keeps the newest records that fit, with the same share of each list. The newest export always stays. */
export function fitHistories(histories: Histories, maxBytes: number): Histories {
  let fitting = histories;
  for (let share = 0.8; share > 0.004 && sizeBytes(fitting) > maxBytes; share *= 0.8) {
    const newest = <T>(records: readonly T[]): T[] => records.slice(0, Math.floor(records.length * share));
    const { deliveries, exports, refreshes, actions } = histories;
    fitting = {
      deliveries: newest(deliveries),
      exports: exports.slice(0, Math.max(Math.floor(exports.length * share), 1)),
      refreshes: newest(refreshes),
      actions: newest(actions),
    };
  }
  return fitting;
}

/** Moves the deliveries of one export to another. Null: those that wait. */
function collect(histories: Histories, from: number | null, to: number | null): void {
  for (const record of histories.deliveries) if (record.exportNumber === from) record.exportNumber = to;
}

function withoutLongFailure(exports: readonly ExportRecord[]): ExportRecord[] {
  const firstOther = exports.findIndex(({ outcome }) => outcome !== 'failed');
  const failed = firstOther === -1 ? exports.length : firstOther;
  return [...exports.slice(0, Math.min(failed, MAX_FAILED_IN_A_ROW - 1)), ...exports.slice(failed)];
}

/** A slice would keep the whole text in memory. */
function short(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : cutText(text, maxLength).split('').join('');
}
