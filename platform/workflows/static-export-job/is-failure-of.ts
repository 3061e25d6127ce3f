import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

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
