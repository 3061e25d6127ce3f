export type ByteBudget = {
  /** Runs the work once this many bytes are free, and releases them when it ends. */
  use<Result>(bytes: number, work: () => Promise<Result>): Promise<Result>;
};

/**
 * Limits the memory of concurrent work. First come, first served; work that is larger than the whole budget runs alone.
 */
export function createByteBudget(maxBytes: number): ByteBudget {
  const waiting: Array<{ bytes: number; begin: () => void }> = [];
  let usedBytes = 0;

  function admit(): void {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      if (usedBytes > 0 && usedBytes + next.bytes > maxBytes) return;
      waiting.shift();
      usedBytes += next.bytes;
      next.begin();
    }
  }

  return {
    async use(bytes, work) {
      await new Promise<void>((begin) => {
        waiting.push({ bytes, begin });
        admit();
      });
      try {
        return await work();
      } finally {
        usedBytes -= bytes;
        admit();
      }
    },
  };
}
