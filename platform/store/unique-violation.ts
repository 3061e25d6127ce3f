import { errorCode } from '../../base/error-code.ts';

/** True if the database rejected a row because its key exists. */
export function isUniqueViolation(error: unknown): boolean {
  return hasCode(error, '23505');
}

/** True if the database rejected a deletion because other rows refer to the row. */
export function isForeignKeyViolation(error: unknown): boolean {
  return hasCode(error, '23503');
}

function hasCode(error: unknown, code: string): boolean {
  if (typeof error !== 'object' || error === null) return false;
  return errorCode(error) === code || ('cause' in error && hasCode(error.cause, code));
}
