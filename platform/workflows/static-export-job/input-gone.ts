import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** Whether an object that the export had stored, or had taken over, is gone from the store or damaged. */
export function isInputGone(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === 'ExportInputGone';
}
