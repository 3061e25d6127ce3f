import { HttpError } from '../web/http-error.ts';
import { retryAfter } from '../web/retry-after.ts';

/** Vendors wait longer by default; this slows down scripts that retry. */
const RETRY_AFTER_SECONDS = 5;

/** The response if a delivery can't be made durable now: the sender must send it again. */
export function unavailable(message: string): HttpError {
  return new HttpError(503, message, retryAfter(RETRY_AFTER_SECONDS));
}
