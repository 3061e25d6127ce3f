import { HttpError } from '../contract/http-error.ts';

/** Vendors wait longer than this by themselves; it keeps a hand-made retry from hammering. */
const RETRY_AFTER_SECONDS = 5;

/** The answer when a delivery can't be made durable now: the sender keeps it and sends it again. */
export function unavailable(message: string): HttpError {
  return new HttpError(503, message, { 'Retry-After': String(RETRY_AFTER_SECONDS) });
}
