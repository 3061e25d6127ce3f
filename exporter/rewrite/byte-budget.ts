export type ByteBudget = {
  /** Works once there is room for so many bytes, which are given back when the work is over. */
  use<Result>(bytes: number, work: () => Promise<Result>): Promise<Result>;
};

/** Bounds what works hold in memory together. First come, first served; one that is larger than all of it goes alone. */
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
