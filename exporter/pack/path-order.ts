import type { BundleFile } from '../../contract/bundle.ts';

/** The order of files in a bundle: by path, UTF-16 code units. */
export function byPath(a: Pick<BundleFile, 'path'>, b: Pick<BundleFile, 'path'>): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}

export type PathOrder = {
  /** Takes the files that come next in the archive and returns those that the manifest may name next. */
  next(files: readonly BundleFile[]): BundleFile[];
  /** What is left at the end. */
  rest(): BundleFile[];
};

/**
 * Puts files in the order of their paths as they come from the archive, where each has its precompressed siblings right
 * behind it: `a.html.br` waits while `a.html-old` and its like come. Only siblings wait, so it is never many.
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
