/**
 * Works on the items of a list that grows on the way, in their order and some at a time, until none is left or `goesOn`
 * says no. What is under way then is awaited. Throws what the first work that failed threw; after it none begins.
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

  /** Works on one item after another; what that adds gives work to more of these. */
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
  // More of them come while these are waited for.
  for (const worker of workers) await worker;
  if (failure !== undefined) throw failure.error;
}
