/** Work that runs beside a loop, while the loop waits for events. */
export type BackgroundWork = {
  /** Runs work in the background; its end wakes the loop, also if it fails. */
  run(work: Promise<void>): void;
  /** Like `run`, for work that must end before the loop does: a cancelled export is cleaned up right after it. */
  write(work: Promise<void>): void;
  /** Throws the error of the first work that failed. */
  throwIfFailed(): void;
  /** Waits until some work ends or the signal fires, for at most this long. */
  nextEvent(waitMs: number): Promise<void>;
  /** Waits until all writes have ended, also those that failed. */
  written(): Promise<void>;
};

export function createBackgroundWork(signal: AbortSignal): BackgroundWork {
  let failure: { error: unknown } | undefined;
  let wake = (): void => undefined;
  const writes = new Set<Promise<void>>();

  function run(work: Promise<void>): void {
    work
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => wake());
  }

  return {
    run,
    write(work) {
      writes.add(work);
      run(work.finally(() => writes.delete(work)));
    },
    throwIfFailed() {
      if (failure !== undefined) throw failure.error;
    },
    nextEvent: (waitMs) =>
      new Promise((resolve) => {
        wake = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        const timer = setTimeout(wake, waitMs);
        signal.addEventListener('abort', wake);
      }),
    async written() {
      await Promise.allSettled(writes);
    },
  };
}
