import { ApplicationFailure } from '@temporalio/common';
import { ObjectMissingError } from '../../objects/object-store.ts';

/** The failure type of work whose stored input is gone or damaged: trying again would find the same. */
const INPUT_GONE = 'ExportInputGone';

/** A non-retryable failure that names the object; the message is for the job's owner. */
export function inputGone(key: string): ApplicationFailure {
  const text = `What was crawled is gone from the object store or damaged (${key}); another export fetches it anew`;
  return ApplicationFailure.nonRetryable(text, INPUT_GONE);
}

/** Ends work for good where an object that it needs isn't there. */
export async function needingObjects<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ObjectMissingError ? inputGone(error.key) : error;
  }
}
