import { errorCode } from '../base/error-code.ts';

/** Thrown if an archive isn't a valid bundle: malformed, incomplete, hostile or too large. */
export class BundleInvalidError extends Error {
  override readonly name = 'BundleInvalidError';
}

/** Thrown if an archive doesn't begin with a manifest: it may be one that another service made. */
export class NoManifestError extends BundleInvalidError {}

/** A hostile name in an error message: short and without control characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}

/** Says when to retry: `soon` with a growing pause, `slowly` if only a new link can help. */
type RetryPace = 'soon' | 'slowly';

/**
 * Thrown if the bundle can't be read from its link; `status` is the HTTP status of the error response, if there was
 * one.
 */
export class BundleUnavailableError extends Error {
  override readonly name = 'BundleUnavailableError';
  readonly pace: RetryPace;
  readonly status: number | null;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, pace: RetryPace, status: number | null = null, retryAfterMs?: number) {
    super(message);
    this.pace = pace;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** An error in a word or two: its code says more than a wrapper's text, and neither contains a link. */
export function reason(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.name : 'unknown fault');
}
