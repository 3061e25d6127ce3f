import { BundleInvalidError } from '../bundle/errors.ts';
import { BundleUnavailableError, reason, ValuesFileError, VersionPinnedError } from './errors.ts';

/** A failed attempt as the status shows it: Galley's own errors unchanged, others without details. */
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
