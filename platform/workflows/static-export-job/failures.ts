import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';

/** The job's error for its owner: the reason if it is meant for people, otherwise nothing internal. */
export function failureText(error: unknown): string {
  if (isCancellation(error)) return 'cancelled';
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type === 'ExportImpossible') return cause.message;
  return 'The export failed because of an internal error; starting it again may help';
}

/** Failure types that the workflow handles. */
type FailureType =
  /** URLs are still queued, so the paths can't be frozen. */
  | 'CrawlUnfinished'
  /** An object that the export stored or reused is gone from the store or damaged. */
  | 'ExportInputGone';

export function isFailureOf(type: FailureType, error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === type;
}
