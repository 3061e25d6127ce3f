import type { BatchFileRow } from '../crawl-records.ts';
import { createRecentReadings } from '../recent-readings.ts';
import type { LinkTables } from './link-tables.ts';

export type ChangedTargets = {
  /** Whether a file refers to an address that leads elsewhere than before, or its references aren't known. */
  concern(file: BatchFileRow): Promise<boolean>;
};

/**
 * Tells which files a changed map of addresses concerns. Each table of links is read once, and of it only the offsets
 * of the files that nothing has changed for are remembered: files come in another order than they were stored in.
 */
export function createChangedTargets(urls: ReadonlySet<string>, links: LinkTables): ChangedTargets {
  // All of them: numbers take little room, and any segment's files may come up again at the very end.
  const untouched = createRecentReadings<string, ReadonlySet<number>>(Number.POSITIVE_INFINITY);

  async function readUntouched(file: BatchFileRow): Promise<ReadonlySet<number>> {
    const table = await links.of(file);
    if (table === undefined) return new Set();
    const changed = new Set(table.urls.flatMap((url, index) => (urls.has(url) ? [index] : [])));
    const files = Object.entries(table.files);
    return new Set(files.flatMap(([at, indices]) => (indices.some((each) => changed.has(each)) ? [] : [Number(at)])));
  }

  return {
    async concern(file) {
      if (file.extractionLength === 0) return false;
      const offsets = await untouched.of(file.objectKey, () => readUntouched(file));
      return !offsets.has(file.byteOffset);
    },
  };
}
