import { setTimeout as sleep } from 'node:timers/promises';
import { Interrupted } from '../command-error.ts';

const POLL_MS = 1_000;
/** A service may restart while it is asked: so many reads in a row may fail after the first. */
const MAX_FAILURES = 30;

/**
 * Reads a state every second until `look` returns something. Ctrl-C ends it.
 * @param goesOn what goes on without the command, for the person who stopped it
 * @throws Interrupted at Ctrl-C
 */
export async function poll<State, Result>(
  read: () => Promise<State>,
  look: (state: State) => Result | undefined,
  goesOn: string,
): Promise<Result> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal);
  const stopped = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(new Interrupted(goesOn)));
  });
  stopped.catch(() => {});
  try {
    for (let failures = MAX_FAILURES; ; ) {
      try {
        const state = await Promise.race([read(), stopped]);
        failures = 0;
        const result = look(state);
        if (result !== undefined) return result;
      } catch (error) {
        if (error instanceof Interrupted || ++failures > MAX_FAILURES) throw error;
      }
      await Promise.race([sleep(POLL_MS, undefined, { signal: stop.signal }).catch(() => {}), stopped]);
    }
  } finally {
    process.removeListener('SIGINT', onSignal);
  }
}
