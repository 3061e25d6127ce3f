/** Reports progress of a long step to a person, one sentence per call. */
export type Report = (line: string) => void;

/** Writes to standard error, so that a command's own output stays clean. */
export const reportToStderr: Report = (line) => {
  process.stderr.write(`${line}\n`);
};

/**
 * An error's message. Read by shape, because an error of another realm (a VM, a worker) is no instance of this one's
 * Error.
 */
export function errorText(error: unknown): string {
  return property(error, 'message') ?? String(error);
}

/** A system error's code, such as `EADDRINUSE`. */
export function errorCode(error: unknown): string | undefined {
  return property(error, 'code');
}

function property(error: unknown, name: 'message' | 'code'): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : undefined;
}
