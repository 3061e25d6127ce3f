import type { Logger } from 'pino';
import type { ObjectStore } from './object-store.ts';

/**
 * Drops what is left of uploads whose process died: it costs room that no listing shows. Never throws: not every store
 * lets us ask for it, and nothing but that room depends on it.
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
