import { ApplicationFailure } from '@temporalio/workflow';
import { type ActionOptions, actionOptions } from '../../contract/site-action.ts';

/** Throws on invalid options. A validator calls it, so the update never enters the history. */
export function rejectInvalidOptions(options?: unknown): void {
  rejectIf(!actionOptions.safeParse(options ?? {}).success, 'expected {"actor": "…"} with up to 200 characters');
}

/** Reads the options in a handler. It never throws, because that would block the workflow. */
export function readActionOptions(options: unknown): ActionOptions {
  return actionOptions.safeParse(options).data ?? {};
}

/** Rejects an update with the reason. */
export function rejectIf(rejected: boolean, why: string): void {
  if (rejected) throw ApplicationFailure.nonRetryable(why, 'Refused');
}
