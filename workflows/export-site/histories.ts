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
import type { Pending } from './state.ts';

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
    deployedAt: null,
    servedAt: null,
    endedAt: null,
    outcome: 'running',
    error: null,
    pageCount: null,
  };
  histories.exports = [record, ...withoutLongFailure(histories.exports)].slice(0, HISTORY_LIMITS.exports);
  collect(histories, null, number);
}

/** The export that runs has got further. */
export function exportContinued(histories: Histories, changes: Partial<ExportRecord>): void {
  const [newest] = histories.exports;
  if (newest?.outcome === 'running') Object.assign(newest, changes);
}

/** The export may be tried again with the same job. */
export function exportHindered(histories: Histories, message: string): void {
  exportContinued(histories, { error: short(message, MAX_MESSAGE) });
}

/** `waiting`: its publishes wait for another export. */
export function exportEnded(
  histories: Histories,
  outcome: Exclude<ExportRecord['outcome'], 'running'>,
  { waiting }: { waiting: boolean },
): void {
  const [newest] = histories.exports;
  if (newest?.outcome !== 'running') return;
  const endedAt = new Date().toISOString();
  exportContinued(histories, { endedAt, outcome, error: outcome === 'failed' ? newest.error : null });
  if (waiting) collect(histories, newest.number, null);
}

/** The status of a deployment says that it serves the job. */
export function jobServed({ exports }: Histories, jobId: string, at: string): void {
  const record = exports.find((each) => each.jobId === jobId);
  if (record !== undefined) record.servedAt ??= at;
}

/** What became of an export that a guard held. */
export function reviewEnded({ exports }: Histories, jobId: string, outcome: ExportRecord['outcome']): void {
  const record = exports.find((each) => each.jobId === jobId && each.outcome === 'review');
  if (record !== undefined) Object.assign(record, { outcome, endedAt: new Date().toISOString() });
}

/** A deployment has the job now. */
export function jobDeployed({ exports }: Histories, jobId: string): void {
  const record = exports.find((each) => each.jobId === jobId);
  if (record !== undefined) record.deployedAt ??= new Date().toISOString();
}

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
