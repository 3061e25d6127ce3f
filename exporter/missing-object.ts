import { ExportFailure } from './export-failure.ts';
import { ObjectMissingError } from './ports.ts';

/** A non-retryable failure that names the object; the message is for the job's owner. */
export function inputGone(key: string): ExportFailure {
  const text = `What was crawled is gone from the object store or damaged (${key}); another export fetches it anew`;
  return new ExportFailure('ExportInputGone', text);
}

/** Throws `inputGone` if an object that the work needs is missing. */
export async function needingObjects<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ObjectMissingError ? inputGone(error.key) : error;
  }
}
