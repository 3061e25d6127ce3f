import type { ObjectStore } from './object-store.ts';

const KEYS_PER_DELETE = 500;

/** Deletes objects while their keys arrive, many with one request. Returns the number of keys. */
export async function deleteEach(
  objects: Pick<ObjectStore, 'delete'>,
  keys: AsyncIterable<string> | Iterable<string>,
): Promise<number> {
  let deletedCount = 0;
  let batch: string[] = [];
  const deleteBatch = async (): Promise<void> => {
    if (batch.length > 0) await objects.delete(batch);
    deletedCount += batch.length;
    batch = [];
  };
  for await (const key of keys) {
    batch.push(key);
    if (batch.length === KEYS_PER_DELETE) await deleteBatch();
  }
  await deleteBatch();
  return deletedCount;
}
