export interface Cleanups {
  add(cleanup: () => Promise<unknown>): void;
  /** Runs all, the newest first; one that fails doesn't keep the others from running, but is told at the end. */
  run(): Promise<void>;
}

/** Where `start` fails, all that it had begun by then is ended before the failure is told. */
export async function startWithCleanups<T>(start: (cleanups: Cleanups) => Promise<T>): Promise<T> {
  const cleanups = createCleanups();
  try {
    return await start(cleanups);
  } catch (error) {
    await cleanups.run();
    throw error;
  }
}

export function createCleanups(): Cleanups {
  const all: (() => Promise<unknown>)[] = [];
  return {
    add: (cleanup) => {
      all.push(cleanup);
    },
    run: async () => {
      const failures: unknown[] = [];
      for (let next = all.pop(); next; next = all.pop()) await next().catch((error) => failures.push(error));
      if (failures.length > 0) throw new AggregateError(failures, 'Not everything could be ended');
    },
  };
}
