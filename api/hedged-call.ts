export type HedgeOptions = {
  /** The whole call is given up then. */
  deadlineMs: number;
  /** When a further attempt joins those still unanswered, in milliseconds after the first. */
  joinAtMs?: readonly number[];
};

/**
 * Runs one idempotent call and lets further attempts join while it is unanswered; the first success wins. The SDK
 * backs off for more than a second when a workflow that is just closing refuses a signal, which is over in a few
 * milliseconds: waiting that out would pass the deadline. Rejects with the first failure once no attempt is left.
 */
export async function hedged<T>(
  call: () => Promise<T>,
  { deadlineMs, joinAtMs = [400, 900] }: HedgeOptions,
): Promise<T> {
  const timers: NodeJS.Timeout[] = [];
  try {
    return await new Promise<T>((resolve, reject) => {
      const failures: unknown[] = [];
      let running = 0;

      const attempt = (): void => {
        running += 1;
        call().then(resolve, (error: unknown) => {
          failures.push(error);
          running -= 1;
          // What fails with nothing else under way was refused for good: the SDK has retried the rest.
          if (running === 0) reject(failures[0]);
        });
      };

      for (const delayMs of joinAtMs) timers.push(setTimeout(attempt, delayMs));
      timers.push(setTimeout(() => reject(failures[0] ?? new Error(`no answer within ${deadlineMs} ms`)), deadlineMs));
      attempt();
    });
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}
