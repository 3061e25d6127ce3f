export interface Cleanups {
  add(cleanup: () => Promise<unknown>): void;
  /** Runs all cleanups, newest first. Failures don't stop the others and are thrown together at the end. */
  run(): Promise<void>;
}

/** Runs `start`. If it fails, runs the cleanups it has added and rethrows the failure. */
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
      if (failures.length > 0) throw new AggregateError(failures, 'Some cleanups failed');
    },
  };
}
