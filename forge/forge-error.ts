/** Thrown when a forge refuses a call or can't be reached. `retryable`: the same call may succeed later. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError';
  /** The HTTP status of the refusal; null where there was no answer. */
  readonly status: number | null;
  readonly retryable: boolean;
  /** What the forge asked to wait, in milliseconds; null where it named no time. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    {
      status,
      retryable,
      retryAfterMs = null,
    }: { status: number | null; retryable: boolean; retryAfterMs?: number | null },
  ) {
    super(message);
    this.status = status;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}
