import { ApplicationFailure } from '@temporalio/workflow';
import { type ActionOptions, actionOptions } from '../../contract/site-action.ts';

/** For the validator of an update, which rejects it before it is in the history. */
export function rejectInvalidOptions(options?: unknown): void {
  rejectIf(!actionOptions.safeParse(options ?? {}).success, 'expected {"actor": "…"} with up to 200 characters');
}

/** For the handler. Never throws, because that would block the workflow. */
export function readActionOptions(options: unknown): ActionOptions {
  return actionOptions.safeParse(options).data ?? {};
}

/** Rejects an update with the reason. */
export function rejectIf(rejected: boolean, why: string): void {
  if (rejected) throw ApplicationFailure.nonRetryable(why, 'Refused');
}
