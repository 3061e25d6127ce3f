/**
 * Works on the items of a growing list, in order and several at a time, until none is left or `goesOn` returns false.
 * Awaits pending work. After a failure no more work starts, and the first error is thrown.
 */
export async function workThrough<Item>(
  items: readonly Item[],
  { atOnce, goesOn }: { atOnce: number; goesOn: () => boolean },
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const workers: Array<Promise<void>> = [];
  let nextIndex = 0;
  let busyCount = 0;
  let failure: { error: unknown } | undefined;

  const mayBegin = (): boolean => failure === undefined && goesOn();

  /** Works on one item after another; items that are added may start more of these loops. */
  async function workInTurn(): Promise<void> {
    busyCount += 1;
    try {
      while (nextIndex < items.length && mayBegin()) {
        const item = items[nextIndex];
        nextIndex += 1;
        if (item !== undefined) await work(item);
        if (mayBegin()) callMore();
      }
    } catch (error) {
      failure ??= { error };
    } finally {
      busyCount -= 1;
    }
  }

  function callMore(): void {
    const count = Math.min(atOnce - busyCount, items.length - nextIndex);
    for (let more = 0; more < count; more += 1) workers.push(workInTurn());
  }

  callMore();
  // More workers may be added while these are awaited.
  for (const worker of workers) await worker;
  if (failure !== undefined) throw failure.error;
}
