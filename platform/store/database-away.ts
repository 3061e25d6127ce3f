const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // a Unix socket that isn't there
]);

/**
 * SQLSTATE classes and codes by which a server says "not now" (PostgreSQL manual, appendix A): connection exceptions,
 * refused logins, no such database, too many connections, shutting down or starting up; and an unknown table, which
 * is a database whose migrations haven't run yet.
 */
const SQL_STATES = /^(08...|28...|3D000|53300|57P0[1-5]|42P01)$/;

/** node-postgres names these by message only. */
const MESSAGES = /Connection terminated|connection timeout|timeout exceeded when trying to connect|Query read timeout/i;

/** True where a failure means that the database can't be reached, rather than that it refused what was asked. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (SYSTEM_CODES.has(code) || SQL_STATES.test(code) || MESSAGES.test(error.message)) return true;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  return isDatabaseAway(error.cause);
}
