/**
 * Why git failed: `missing` (no such repository, branch or commit), `refused` (who we are isn't let in), `rejected` (the
 * push isn't taken), `broken` (objects that don't pass the checks), `conflict` (a branch isn't where it was expected),
 * `unreachable` (no answer, or not now), `timeout`, `other`.
 */
export type GitFailureReason =
  | 'missing'
  | 'refused'
  | 'rejected'
  | 'broken'
  | 'conflict'
  | 'unreachable'
  | 'timeout'
  | 'other';

/** Reasons that trying again can't mend. */
const PERMANENT: readonly GitFailureReason[] = ['missing', 'refused', 'rejected', 'broken', 'conflict'];

/** Thrown when git fails. The message is one sentence for people, without secrets. */
export class GitError extends Error {
  override readonly name = 'GitError';
  readonly reason: GitFailureReason;
  readonly retryable: boolean;

  constructor(message: string, reason: GitFailureReason) {
    super(message);
    this.reason = reason;
    this.retryable = !PERMANENT.includes(reason);
  }
}
