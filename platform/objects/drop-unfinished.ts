import type { Logger } from 'pino';
import type { ObjectStore } from './object-store.ts';

/**
 * Deletes unfinished uploads of dead processes, whose space no listing shows. Never throws: not every store supports
 * it, and only that space is at stake.
 */
export async function dropUnfinished(
  { objects, logger }: { objects: ObjectStore; logger: Logger },
  { prefixes, begunBefore }: { prefixes: readonly string[]; begunBefore?: Date },
): Promise<void> {
  for (const prefix of prefixes) {
    try {
      await objects.dropUnfinished({ prefix, begunBefore });
    } catch (error) {
      logger.warn({ err: error, prefix }, 'Unfinished uploads could not be dropped');
    }
  }
}
