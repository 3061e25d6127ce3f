/** Thrown when an object that should be read isn't there. */
export class ObjectMissingError extends Error {
  override readonly name = 'ObjectMissingError';
  readonly key: string;

  constructor(key: string) {
    super(`There is no object ${key}`);
    this.key = key;
  }
}

/** What a caller may do about a failure; the names are those that workflows match. */
export type ExportFailureType =
  /** The site can't be exported as it is or as it is configured; the message is for the job's owner. */
  | 'ExportImpossible'
  /** The crawl is gone or frozen: the job has ended, or another worker is further. */
  | 'CrawlGone'
  /** The crawl has URLs left: a worker that was taken for dead reported them after the others had finished. */
  | 'CrawlUnfinished'
  /** A stored object that the export needs is gone or damaged. An export that reuses nothing may succeed. */
  | 'ExportInputGone'
  /** The browser didn't start this time; another attempt may succeed. */
  | 'BrowserTrouble';

/** Thrown when a stage of an export can't go on. */
export class ExportFailure extends Error {
  override readonly name = 'ExportFailure';
  readonly type: ExportFailureType;
  /** Another attempt would end in the same way. */
  readonly nonRetryable: boolean;

  constructor(type: ExportFailureType, message: string, { nonRetryable = true } = {}) {
    super(message);
    this.type = type;
    this.nonRetryable = nonRetryable;
  }
}

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
