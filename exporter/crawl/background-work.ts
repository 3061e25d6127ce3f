/** Work that runs beside a loop, which waits for its events. */
export type BackgroundWork = {
  /** The loop hears of its end, good or bad. */
  run(work: Promise<void>): void;
  /** As `run`, for what must not outlive the loop: a cancelled export is cleared up right after it. */
  write(work: Promise<void>): void;
  /** Throws what the first work to fail has thrown. */
  throwIfFailed(): void;
  /** Waits until some work ends, for no longer than this. */
  nextEvent(waitMs: number): Promise<void>;
  /** Waits until all writes have ended, good or bad. */
  written(): Promise<void>;
};

export function createBackgroundWork(): BackgroundWork {
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
        const timer = setTimeout(resolve, waitMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    async written() {
      await Promise.allSettled(writes);
    },
  };
}
