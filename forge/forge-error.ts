/** Thrown if a forge rejects a call or can't be reached. `retryable`: the same call may succeed later. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError';
  /** The HTTP status of the error; null if there was no response. */
  readonly status: number | null;
  readonly retryable: boolean;
  /** The wait that the forge asked for, in milliseconds; null if none. */
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
