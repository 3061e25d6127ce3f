import { patched, workflowInfo } from '@temporalio/workflow';
import { BASELINE } from '../../contract/names.ts';
import type { SeenBucket, SeenDeliveries } from '../deliveries/seen-deliveries.ts';

/** Far below what is slow to replay. The server suggests continue-as-new at thousands of events only. */
const LONG_HISTORY_EVENTS = 1_000;

/** A quarter of the 2 MB at which Temporal rejects a workflow's input. */
export const MAX_INPUT_BYTES = 512_000;

/** A workflow's state as its flow sees it: only transitions write to it. */
export type ReadonlyState<T> = { readonly [Key in keyof T]: ReadonlyValue<T[Key]> };
type ReadonlyValue<T> = T extends (infer Item)[] ? Readonly<Item>[] : T extends object ? Readonly<T> : T;

/** What every long-running workflow knows of its present run. */
export type EntityRun = {
  /** A `configChanged` signal has arrived since the settings were read. */
  configChanged: boolean;
  /** The build of the worker that started the run. */
  build: string;
  /** Deliveries of notifications are being started (notifications/outbox.ts). */
  notifying: boolean;
};

/** Creates the run's state and marks the run as one of this baseline. */
export function newEntityRun(): EntityRun {
  patched(BASELINE);
  return { configChanged: false, build: currentBuild(), notifying: false };
}

/**
 * A run continues as new when its history is long or another build executes it, so that no run depends on code paths of
 * several releases.
 */
export function shouldContinueAsNew({ build }: EntityRun): boolean {
  return currentBuild() !== build || isHistoryLong();
}

export function isHistoryLong(): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength > LONG_HISTORY_EVENTS || continueAsNewSuggested;
}

/** Drops the oldest seen deliveries until the next run's input fits into `MAX_INPUT_BYTES`, or none are left. */
export function limitSeenDeliveries<T extends { seen: SeenBucket[] }>(input: T, seen: SeenDeliveries): T {
  let limited = input;
  for (let limit = 10_000; exceedsMaxInput(limited) && limited.seen.length > 0; limit = Math.floor(limit / 2)) {
    limited = { ...input, seen: limit === 0 ? [] : seen.toBuckets(limit) };
  }
  return limited;
}

export function exceedsMaxInput(input: unknown): boolean {
  return sizeBytes(input) > MAX_INPUT_BYTES;
}

/** The size of the value as JSON in UTF-8. */
export function sizeBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).byteLength;
}

/** Temporal records it in the history, so a replay sees the same build. Empty if the worker has no deployment version. */
function currentBuild(): string {
  return workflowInfo().currentDeploymentVersion?.buildId ?? '';
}
