export interface Cleanups {
  add(cleanup: () => Promise<unknown>): void;
  /** Runs all, the newest first; one that fails doesn't keep the others from running, but is told at the end. */
  run(): Promise<void>;
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
