import { BundleInvalidError, BundleUnavailableError, ValuesFileError, VersionPinnedError } from './errors.ts';
import { reason } from './fault.ts';

/** What the status says about a failed try: our own errors as they are, anything else without its details. */
export function problemMessage(error: unknown): string {
  if (error instanceof BundleInvalidError) return `the bundle was refused: ${error.message}`;
  if (
    error instanceof BundleUnavailableError ||
    error instanceof ValuesFileError ||
    error instanceof VersionPinnedError
  ) {
    return error.message;
  }
  return `the bundle could not be stored (${reason(error)})`;
}
