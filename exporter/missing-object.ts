import { ExportFailure } from './export-failure.ts';
import { ObjectMissingError } from './ports.ts';

/** A non-retryable failure that names the object; the message is for the job's owner. */
export function inputGone(key: string): ExportFailure {
  const text = `A crawled object is missing in the object store or damaged (${key}); start the export again`;
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
