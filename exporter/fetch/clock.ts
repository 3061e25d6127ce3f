/** The clock of fetching and crawling; tests pass their own. */
export type Clock = {
  /** Milliseconds since an arbitrary start; never goes back. */
  nowMs(): number;
  /** Calls back after at least this long. Must not keep the process alive. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
};

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
};
