import { z } from 'zod';
import { deleteEach } from '../objects/delete-each.ts';
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
  /** Null: not known, because measuring each object costs a request. */
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

/** Deletes objects, or only measures them. */
export async function takeObjects(
  { objects, dryRun }: Pick<GarbageContext, 'objects' | 'dryRun'>,
  keys: AsyncIterable<string> | Iterable<string>,
): Promise<GarbageOfJob> {
  const items: string[] = [];
  let count = 0;
  let sizeBytes = 0;
  async function* counted(): AsyncGenerator<string> {
    for await (const key of keys) {
      if (dryRun) sizeBytes += (await objects.head(key))?.sizeBytes ?? 0;
      count += 1;
      if (items.length < MAX_ITEMS) items.push(key);
      if (!dryRun) yield key;
    }
  }
  await deleteEach(objects, counted());
  return { count, sizeBytes: dryRun ? sizeBytes : null, items };
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
