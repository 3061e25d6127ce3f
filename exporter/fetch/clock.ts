/** Time as fetching and crawling see it; tests bring their own. */
export type Clock = {
  /** Milliseconds since some moment; never goes back. */
  nowMs(): number;
  /** Calls back after so much time, at the earliest. Must not keep the process alive. The answer cancels it. */
  after(ms: number, callback: () => void): () => void;
};

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
};
