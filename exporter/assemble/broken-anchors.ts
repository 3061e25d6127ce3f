import { hashesOf, readIds } from '../document/anchors.ts';
import { createBrokenLinks } from './broken-links.ts';
import type { StoredPiece } from './pieces.ts';

/** A page's ids (`Anchors.ids`), and the fragments of its links by the path that they lead to. */
export type PageAnchors = { url: string; path: string; ids?: string; links: [path: string, fragments: string[]][] };

/** `count`: of different anchors. The list of them is bounded. */
export type BrokenAnchors = { count: number; listed: { url: string; referrers: string[] }[] };

const UINT32 = 2 ** 32;

export type AnchorIndex = {
  /** Call it with all pieces before `broken`. */
  add(pieces: readonly StoredPiece[]): void;
  /** Finds links to ids that their pages don't have. Takes the pieces again, because a page may be linked before it comes. */
  broken(pieces: AsyncIterable<StoredPiece[]>): Promise<BrokenAnchors>;
};

/** Holds a path and a URL for each page, and a number for each id. */
export function createAnchorIndex(): AnchorIndex {
  const urls: string[] = [];
  const pages = new Map<string, number>();
  const ids = createNumberSet();
  let hasLinks = false;
  return {
    add(pieces) {
      for (const { url, path, ids: own, links } of anchorsOf(pieces)) {
        hasLinks ||= links.length > 0;
        if (own === undefined) continue;
        const page = urls.push(url) - 1;
        pages.set(path, page);
        for (const hash of readIds(own)) ids.add(page * UINT32 + hash);
      }
    },
    async broken(pieces) {
      const broken = createBrokenLinks();
      const different = new Set<string>();
      const check = (referrer: string, path: string, fragments: readonly string[]): void => {
        const page = pages.get(path);
        if (page === undefined) return;
        for (const fragment of fragments) {
          const hashes = hashesOf(fragment);
          if (hashes.some((hash) => ids.has(page * UINT32 + hash))) continue;
          different.add(`${page} ${hashes[0]}`);
          broken.add(`${urls[page]}#${fragment}`, referrer);
        }
      };
      if (hasLinks) {
        for await (const some of pieces) {
          for (const { url, links } of anchorsOf(some))
            for (const [path, fragments] of links) check(url, path, fragments);
        }
      }
      const listed = Object.entries(broken.toObject()).map(([url, referrers]) => ({ url, referrers }));
      return { count: different.size, listed };
    },
  };
}

function* anchorsOf(pieces: readonly StoredPiece[]): Generator<PageAnchors> {
  for (const { anchors = [] } of pieces) yield* anchors;
}

/** A set of numbers in eight bytes each. Add all of them before the first look-up. */
function createNumberSet(): { add(value: number): void; has(value: number): boolean } {
  let values = new Float64Array(1024);
  let length = 0;
  let isSorted = false;
  return {
    add(value) {
      if (length === values.length) {
        const longer = new Float64Array(2 * length);
        longer.set(values);
        values = longer;
      }
      values[length] = value;
      length += 1;
    },
    has(value) {
      if (!isSorted) values = values.subarray(0, length).sort();
      isSorted = true;
      let low = 0;
      let high = length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((values[middle] ?? 0) < value) low = middle + 1;
        else high = middle;
      }
      return values[low] === value;
    },
  };
}
