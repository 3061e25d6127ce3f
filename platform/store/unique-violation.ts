import { errorCode } from '../../base/error-code.ts';

/** True if the database rejected a row because its key exists. */
export function isUniqueViolation(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  return errorCode(error) === '23505' || ('cause' in error && isUniqueViolation(error.cause));
}
