import { errorCode, errorText } from '../../base/error-code.ts';

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
 * SQLSTATE classes and codes that mean "unavailable" (PostgreSQL manual, appendix A): connection exceptions, rejected
 * logins, no such database, out of connections, memory or disk, shutting down or starting up, read-only (the old
 * primary after a failover), and an unknown table (migrations haven't run yet).
 */
const SQL_STATES = /^(08...|28...|3D000|53...|57P0[1-5]|25006|42P01)$/;

/** Of these, what no wait mends: a rejected login, no such database; and no permission. */
const REFUSALS = /^(28...|3D000|42501)$/;

/** The server's words if it refuses this login or database, rather than being away for a while. */
export function refusalOf(error: unknown): string | undefined {
  const code = errorCode(error);
  return code !== undefined && REFUSALS.test(code) ? `${errorText(error)} (${code})` : undefined;
}

/** node-postgres names these by message only. */
const MESSAGES =
  /Connection terminated|not queryable|connection timeout|timeout exceeded when trying to connect|Query read timeout/i;

/** True if an error or its cause means that the database can't be reached, not that it rejected a statement. */
export function isDatabaseAway(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const code = errorCode(error);
  if (code !== undefined && (SYSTEM_CODES.has(code) || SQL_STATES.test(code))) return true;
  if ('message' in error && typeof error.message === 'string' && MESSAGES.test(error.message)) return true;
  if ('errors' in error && Array.isArray(error.errors) && error.errors.some(isDatabaseAway)) return true;
  return 'cause' in error && isDatabaseAway(error.cause);
}
