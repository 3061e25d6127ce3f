import type { BundleFile } from '../../contract/bundle.ts';

/** The order of files in a bundle: by path, in UTF-16 code units. */
export function byPath(a: Pick<BundleFile, 'path'>, b: Pick<BundleFile, 'path'>): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}

export type PathOrder = {
  /** Takes the archive's next files and returns those that come next in the manifest. */
  next(files: readonly BundleFile[]): BundleFile[];
  /** The remaining files at the end. */
  rest(): BundleFile[];
};

/**
 * Sorts files by path as they come from the archive, where each is followed by its precompressed siblings: `a.html.br`
 * waits until `a.html-old` has come. Only siblings wait, so few files are held.
 */
export function createPathOrder(): PathOrder {
  let waiting: BundleFile[] = [];
  return {
    next(files) {
      const ordered: BundleFile[] = [];
      for (const file of files) {
        if (file.encoding !== undefined) {
          waiting.push(file);
          waiting.sort(byPath);
          continue;
        }
        while (waiting[0] !== undefined && byPath(waiting[0], file) < 0) ordered.push(...waiting.splice(0, 1));
        ordered.push(file);
      }
      return ordered;
    },
    rest() {
      const left = waiting;
      waiting = [];
      return left;
    },
  };
}
