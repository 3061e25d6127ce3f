/**
 * Why git failed: `missing` (no such repository, branch or commit), `refused` (access denied), `rejected` (the push was
 * rejected), `broken` (objects that fail the checks), `conflict` (a branch has moved), `unreachable` (no response, or a
 * temporary error), `timeout`, `other`.
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

/** Reasons for which a retry doesn't help. */
const PERMANENT: readonly GitFailureReason[] = ['missing', 'refused', 'rejected', 'broken', 'conflict'];

/** Thrown if git fails. The message is one sentence for people, without secrets. */
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
