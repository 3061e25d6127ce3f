const waiting: Array<() => void> = [];

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}

/**
 * Waits for a turn of the event loop of its own, one caller per turn. Responses of many connections arrive in one turn;
 * processing them all at once would leave the origin idle until the last one is done.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}
