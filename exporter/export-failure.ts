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
