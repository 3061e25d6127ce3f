/** The `code` of Node's and PostgreSQL's errors, such as `ENOENT` or `23505`; empty if there is none. */
export function errorCode(error: unknown): string {
  const isObject = typeof error === 'object' && error !== null;
  return isObject && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
