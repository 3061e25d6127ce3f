/** Work that goes on beside the caller. */
export type Tasks = {
  add(task: Promise<unknown>): void;
  /** Waits for all. @throws the first failure */
  end(): Promise<void>;
};

export function createTasks(): Tasks {
  const failures: unknown[] = [];
  const all: Promise<unknown>[] = [];
  return {
    // Handled at once: a failure must not end the process before `end` is called.
    add: (task) => void all.push(task.catch((error) => failures.push(error))),
    async end() {
      await Promise.all(all);
      if (failures.length > 0) throw failures[0];
    },
  };
}
