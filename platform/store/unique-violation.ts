import { errorCode } from '../error-code.ts';

/** True where the database refused a row because another one has its key already. */
export function isUniqueViolation(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  return errorCode(error) === '23505' || ('cause' in error && isUniqueViolation(error.cause));
}
