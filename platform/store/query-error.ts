import { DrizzleQueryError } from 'drizzle-orm/errors';
import { errorCode } from '../../base/error-code.ts';

/** Enough of a statement to identify it. */
const STATEMENT_CHARACTERS = 300;

/**
 * Makes a query error safe to log. Drizzle's own error quotes all values of the statement, and the database's details
 * may quote a whole row: key hashes, webhook secrets, URLs. Kept are the database's message and code, the statement
 * without its values, and the stack. Any other error is returned unchanged.
 */
export function withoutValues(error: unknown): unknown {
  if (!(error instanceof DrizzleQueryError)) return error;
  const said = error.cause?.message ?? 'the query failed';
  const message = `${said} (in: ${error.query.slice(0, STATEMENT_CHARACTERS)})`;
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  const redacted = Object.assign(new Error(message), { code: errorCode(error.cause) });
  redacted.name = 'QueryError';
  redacted.stack = [`QueryError: ${message}`, ...frames].join('\n');
  return redacted;
}

/** True if the database rejected a row because its key exists. */
export function isUniqueViolation(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  return errorCode(error) === '23505' || ('cause' in error && isUniqueViolation(error.cause));
}
