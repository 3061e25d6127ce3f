/** True for any thrown error, also from another realm, which `instanceof` would miss. */
function isErrorLike(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The `code` of a Node or undici error, or of one of its causes; undefined if there is none. */
export function fetchErrorCode(error: unknown): string | undefined {
  return findOnCauses(error, (each) => ('code' in each && typeof each.code === 'string' ? each.code : undefined));
}

/** The first non-empty message; a connection error often has its message on a cause. */
export function errorMessage(error: unknown): string {
  const message = findOnCauses(error, (each) =>
    'message' in each && typeof each.message === 'string' && each.message !== '' ? each.message : undefined,
  );
  return message ?? fetchErrorCode(error) ?? String(error);
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

/** True if the error, or one of its causes, is of that class. */
export function isCausedBy(error: unknown, errorClass: new (...args: never[]) => Error): boolean {
  let current = error;
  for (let depth = 0; isErrorLike(current) && depth < MAX_CAUSES; depth += 1) {
    if (current instanceof errorClass) return true;
    current = 'cause' in current ? current.cause : undefined;
  }
  return false;
}
