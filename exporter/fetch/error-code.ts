/** True for what is thrown as an error, also by code that runs in another realm (`instanceof` would miss it). */
function isErrorLike(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The `code` that Node and undici put on their errors, looked for on the causes too; undefined where there is none. */
export function errorCode(error: unknown): string | undefined {
  return findOnCauses(error, (each) => ('code' in each && typeof each.code === 'string' ? each.code : undefined));
}

/** The first message that says something; a connection's failure often hides its own among its causes. */
export function errorMessage(error: unknown): string {
  const message = findOnCauses(error, (each) =>
    'message' in each && typeof each.message === 'string' && each.message !== '' ? each.message : undefined,
  );
  return message ?? errorCode(error) ?? String(error);
}

const MAX_CAUSES = 5;

function findOnCauses(error: unknown, read: (error: object) => string | undefined): string | undefined {
  let current = error;
  for (let depth = 0; isErrorLike(current) && depth < MAX_CAUSES; depth += 1) {
    const found = read(current);
    if (found !== undefined) return found;
    current = 'cause' in current ? current.cause : undefined;
  }
  return undefined;
}

/** True where the error, or one it was caused by, is of that class. */
export function isCausedBy(error: unknown, errorClass: new (...args: never[]) => Error): boolean {
  let current = error;
  for (let depth = 0; isErrorLike(current) && depth < MAX_CAUSES; depth += 1) {
    if (current instanceof errorClass) return true;
    current = 'cause' in current ? current.cause : undefined;
  }
  return false;
}
