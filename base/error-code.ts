/**
 * The `code` of an error of Node, a library or PostgreSQL, such as `ENOENT` or `23505`; undefined if it has none. Read
 * by shape, because an error of another realm (a VM, a worker) is no instance of this one's Error.
 */
export function errorCode(error: unknown): string | undefined {
  return property(error, 'code');
}

/** An error's message, or the thrown value as text. */
export function errorText(error: unknown): string {
  return property(error, 'message') ?? String(error);
}

/** Whether it is an operating system error (a full disk, a missing right). */
export function isSystemError(error: unknown): boolean {
  return property(error, 'syscall') !== undefined;
}

function property(error: unknown, name: 'message' | 'code' | 'syscall'): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
