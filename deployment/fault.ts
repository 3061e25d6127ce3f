/** A system or library error's code (`ENOENT`, `Z_DATA_ERROR`, `UND_ERR_SOCKET`), if it has one. */
export function codeOf(error: unknown): string | undefined {
  return field(error, 'code');
}

/** Whether it is an operating system error (a full disk, a missing right) and not invalid data. */
export function isSystemFault(error: unknown): boolean {
  return field(error, 'syscall') !== undefined;
}

/** An error in a word or two: its code says more than a wrapper's text, and neither contains a link. */
export function reason(error: unknown): string {
  return codeOf(error) ?? field(error, 'name') ?? 'unknown fault';
}

export function messageOf(error: unknown): string {
  return field(error, 'message') ?? 'unknown fault';
}

function field(error: unknown, name: string): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
