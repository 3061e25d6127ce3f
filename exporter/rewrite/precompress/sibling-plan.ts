import { CODING_EXTENSIONS, type ContentCoding } from '../../../contract/content-coding.ts';
import { collisionKey } from '../../document/resolve-collisions.ts';
import type { CrawlStore } from '../../ports.ts';

/** Which precompressed siblings the files of an export get. */
export type SiblingPlan = {
  /** In the order of `CONTENT_CODINGS`. */
  codings: readonly ContentCoding[];
  /** Collision keys of the origin's own files and folders whose names a sibling would have. */
  taken: ReadonlySet<string>;
};

const SIBLING_NAME = /\.(?:br|gz|zst)$/;

export function siblingPath(path: string, coding: ContentCoding): string {
  return `${path}${CODING_EXTENSIONS[coding]}`;
}

/** The plan of a frozen crawl: the origin's own files take precedence over siblings. */
export async function planSiblings(
  store: CrawlStore,
  { jobId, precompress }: { jobId: string; precompress: readonly ContentCoding[] },
): Promise<SiblingPlan> {
  const paths = precompress.length === 0 ? [] : await store.pathsLikeSiblings(jobId);
  return { codings: precompress, taken: new Set(paths.flatMap(siblingNamesIn)) };
}

/** The path and its parent folders, if they are named like a sibling. */
function siblingNamesIn(path: string): string[] {
  const segments = collisionKey(path).split('/');
  return segments.map((_, index) => segments.slice(0, index + 1).join('/')).filter((name) => SIBLING_NAME.test(name));
}

export function isTaken(path: string, { taken }: Pick<SiblingPlan, 'taken'>): boolean {
  return taken.size > 0 && taken.has(collisionKey(path));
}

/** The siblings that these files don't get because the origin has their names; part of the piece's key. */
export function withheldSiblings(files: ReadonlyArray<{ path: string }>, plan: SiblingPlan): string[] {
  if (plan.taken.size === 0) return [];
  const all = files.flatMap(({ path }) => plan.codings.map((coding) => siblingPath(path, coding)));
  return all.filter((path) => isTaken(path, plan));
}
