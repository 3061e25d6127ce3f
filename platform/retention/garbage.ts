import pLimit from 'p-limit';
import { z } from 'zod';
import type { ObjectStore } from '../objects/object-store.ts';
import type { Database, Executor } from '../store/database.ts';
import type { ExportKeep } from './export-keep.ts';

/** What a job of `galley gc` works with. */
export type GarbageContext = {
  db: Database;
  objects: ObjectStore;
  /** Undefined: all exports are kept. */
  exportKeep: ExportKeep | undefined;
  at: Date;
  /** True: nothing is changed. */
  dryRun: boolean;
  signal: AbortSignal;
};

export const garbage = z.object({
  job: z.string(),
  /** Rows or objects that were deleted, or would be. */
  count: z.int(),
  /** Null: not known. Only a dry run measures objects, because each costs a request. */
  sizeBytes: z.number().nullable(),
  /** The first ids or keys; empty for rows that have no name. */
  items: z.array(z.string()),
});
export type Garbage = z.infer<typeof garbage>;
export type GarbageOfJob = Omit<Garbage, 'job'>;

const MAX_ITEMS = 100;

export const NO_GARBAGE: GarbageOfJob = { count: 0, sizeBytes: 0, items: [] };

export function namedItems(items: readonly string[], sizeBytes: number | null): GarbageOfJob {
  return { count: items.length, sizeBytes, items: items.slice(0, MAX_ITEMS) };
}

export function addGarbage(a: GarbageOfJob, b: GarbageOfJob): GarbageOfJob {
  const sizeBytes = a.sizeBytes === null || b.sizeBytes === null ? null : a.sizeBytes + b.sizeBytes;
  return { count: a.count + b.count, sizeBytes, items: [...a.items, ...b.items].slice(0, MAX_ITEMS) };
}

const KEYS_PER_BATCH = 500;
const REQUESTS_AT_A_TIME = 10;

/** Groups keys, for requests and queries about many. */
export async function* batches(keys: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const key of keys) {
    if (batch.push(key) < KEYS_PER_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Objects that a job found, measured in a dry run. */
export async function foundObjects(
  { objects, dryRun }: Pick<GarbageContext, 'objects' | 'dryRun'>,
  keys: readonly string[],
): Promise<GarbageOfJob> {
  if (!dryRun) return namedItems(keys, keys.length === 0 ? 0 : null);
  const limit = pLimit(REQUESTS_AT_A_TIME);
  const heads = await Promise.all(keys.map((key) => limit(() => objects.head(key))));
  return namedItems(
    keys,
    heads.reduce((sum, head) => sum + (head?.sizeBytes ?? 0), 0),
  );
}

/** Deletes objects, or only measures them. */
export async function takeObjects(
  context: Pick<GarbageContext, 'objects' | 'dryRun'>,
  keys: AsyncIterable<string> | Iterable<string>,
): Promise<GarbageOfJob> {
  let taken = NO_GARBAGE;
  for await (const batch of batches(keys)) {
    taken = addGarbage(taken, await foundObjects(context, batch));
    if (!context.dryRun) await context.objects.delete(batch);
  }
  return taken;
}

class RolledBack extends Error {}

/** Runs a job's statements in a transaction. A dry run does the same and rolls it back, so that both find the same. */
export async function changeRows<Result>(
  { db, dryRun }: Pick<GarbageContext, 'db' | 'dryRun'>,
  run: (tx: Executor) => Promise<Result>,
): Promise<Result> {
  let found: { result: Result } | undefined;
  try {
    await db.transaction(async (tx) => {
      found = { result: await run(tx) };
      if (dryRun) throw new RolledBack();
    });
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
  }
  if (found === undefined) throw new Error('The transaction ran nothing');
  return found.result;
}
