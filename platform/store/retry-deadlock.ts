/** SQLSTATE deadlock_detected and serialization_failure: the statement was undone as a whole and may be sent again. */
const UNDONE = new Set(['40P01', '40001']);
const MAX_TRIES = 5;

function isUndone(error: unknown): boolean {
  for (let current = error; typeof current === 'object' && current !== null; ) {
    if ('code' in current && typeof current.code === 'string' && UNDONE.has(current.code)) return true;
    current = 'cause' in current ? current.cause : undefined;
  }
  return false;
}

/**
 * Runs a statement again when the database undid it to end a deadlock. Workers that settle and find the same
 * addresses may wait for each other; this happens rarely and costs one repetition.
 */
export async function retryDeadlock<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      if (tries >= MAX_TRIES || !isUndone(error)) throw error;
    }
  }
}
