import type { Logger } from 'pino';
import type { ObjectStore } from './object-store.ts';

/** `sizeBytes` null: not measured. */
type Dropped = { items: string[]; sizeBytes: number | null };

/**
 * Deletes unfinished uploads of dead processes, whose space no listing shows. A dry run only measures them. Never
 * throws: not every store supports it, and only that space is at stake.
 */
export async function dropUnfinished(
  { objects, logger }: { objects: ObjectStore; logger: Logger },
  { prefixes, begunBefore, dryRun = false }: { prefixes: readonly string[]; begunBefore?: Date; dryRun?: boolean },
): Promise<Dropped> {
  // By name, because a store of files lists all of them for any prefix.
  const found = new Map<string, number>();
  for (const prefix of prefixes) {
    try {
      for await (const { name, sizeBytes, drop } of objects.unfinished({ prefix, begunBefore })) {
        found.set(name, dryRun ? await sizeBytes() : 0);
        if (!dryRun) await drop();
      }
    } catch (error) {
      logger.warn({ err: error, prefix }, 'Unfinished uploads could not be dropped');
    }
  }
  const sizeBytes = [...found.values()].reduce((sum, each) => sum + each, 0);
  return { items: [...found.keys()], sizeBytes: dryRun || found.size === 0 ? sizeBytes : null };
}
