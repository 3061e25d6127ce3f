const waiting: Array<() => void> = [];

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}

/**
 * Waits for a turn of the process's event loop in which nobody else begins: one answer is worked on, and then whatever
 * has come in meanwhile is read and whatever is ready is asked for. Answers of many connections come in one turn; worked
 * on at once, they would have the origin wait until the last of them is done, again and again.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}
