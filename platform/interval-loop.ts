type IntervalLoop = {
  /** Fires when the loop stops. */
  readonly signal: AbortSignal;
  /** Starts the first turn. A second call does nothing. */
  start(): void;
  /** Ends the current pause, or skips the next one during a turn. */
  wake(): void;
  /** Stops after the current turn. */
  stop(): Promise<void>;
};

/**
 * Runs turns with a pause between them until it is stopped.
 * @param options `turn` returns true if the next turn should follow immediately. Its errors go to `onFailure`, and the
 *   loop continues after the pause.
 */
export function createIntervalLoop(options: {
  intervalMs: number;
  turn: () => Promise<boolean>;
  onFailure: (error: unknown) => void;
}): IntervalLoop {
  const { intervalMs, turn, onFailure } = options;
  const stopping = new AbortController();
  let isDue = false;
  let endPause = () => {};
  let loop: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const goesOn = await turn().catch((error: unknown) => {
        onFailure(error);
        return false;
      });
      if (!goesOn) await pause();
    }
  }

  async function pause(): Promise<void> {
    if (!isDue) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, intervalMs);
        endPause = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    isDue = false;
  }

  function wake(): void {
    isDue = true;
    endPause();
  }

  return {
    signal: stopping.signal,
    start() {
      loop ??= run();
    },
    wake,
    async stop() {
      stopping.abort();
      wake();
      await loop;
    },
  };
}
