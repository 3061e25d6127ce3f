import { DrizzleQueryError } from 'drizzle-orm/errors';
import { errorCode } from '../error-code.ts';

/** Enough of a statement to find it by. */
const STATEMENT_CHARACTERS = 300;

/**
 * A failed query as it may be logged and told on. Drizzle's own error quotes every value of the statement, and what the
 * database adds in its details may quote a whole row: hashes of keys, secrets of webhooks, addresses by the thousand. What
 * is kept is what the database said, its code, the statement without its values, and where it was sent from. Any other
 * error is returned as it is.
 */
export function withoutValues(error: unknown): unknown {
  if (!(error instanceof DrizzleQueryError)) return error;
  const said = error.cause?.message ?? 'the query failed';
  const message = `${said} (in: ${error.query.slice(0, STATEMENT_CHARACTERS)})`;
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  const told = Object.assign(new Error(message), { code: errorCode(error.cause) });
  told.name = 'QueryError';
  told.stack = [`QueryError: ${message}`, ...frames].join('\n');
  return told;
}
