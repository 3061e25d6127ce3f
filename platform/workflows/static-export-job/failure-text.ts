import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';

/** What a job's owner reads as its error: the reason where it is one for people, nothing of our inside otherwise. */
export function failureText(error: unknown): string {
  if (isCancellation(error)) return 'cancelled';
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type === 'ExportImpossible') return cause.message;
  return 'The export failed because of an internal error; starting it again may help';
}
