export type IntervalLoop = {
  /** Fires when the loop is told to stop. */
  readonly signal: AbortSignal;
  /** Begins the first turn. A second call does nothing. */
  start(): void;
  /** Ends the pause under way, or skips the next one where a turn is under way. */
  wake(): void;
  /** Ends after the turn under way. */
  stop(): Promise<void>;
};

/**
 * Takes one turn after another, with a pause between them, until it is stopped.
 * @param options `turn` answers true where the next turn shall follow at once; what it throws is told to `onFailure`, and
 * the loop goes on after the pause.
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
