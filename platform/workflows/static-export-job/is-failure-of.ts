import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** What an activity's failure may mean for the workflow, by its type. */
export type FailureType =
  /** Addresses are still to be crawled, so the paths couldn't be frozen. */
  | 'CrawlUnfinished'
  /** An object that the export had stored, or had taken over, is gone from the store or damaged. */
  | 'ExportInputGone';

export function isFailureOf(type: FailureType, error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === type;
}
