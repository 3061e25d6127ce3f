/**
 * Does the work for each item, `atOnce` at a time. After a failure none is started, and those under way end before it is
 * thrown, so that nothing is written later.
 */
export async function forEachToItsEnd<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  // All workers share one generator, which a failure in any of them ends.
  const rest = (function* () {
    yield* items;
  })();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  const workers = Array.from({ length: atOnce }, () => worker().catch((error: unknown) => failures.push(error)));
  await Promise.all(workers);
  // What fails after the first may be its consequence.
  if (failures.length > 0) throw failures[0];
}
