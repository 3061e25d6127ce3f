import type { Row } from './memory-crawl.ts';

/** The queued URLs of a crawl, those nearest to the start page first, then the oldest. */
export type UrlQueue = {
  add(row: Row): void;
  /** All that are queued, in order. */
  list(): Iterable<Row>;
  /** Removes up to `limit` that are due, in order. */
  take(limit: number, nowMs: number): Row[];
};

/**
 * One list per depth, ordered by id. A row that left the queue in another way than by `take` stays in its list until
 * `take` meets it.
 */
export function createUrlQueue(): UrlQueue {
  const lists = new Map<number, Row[]>();

  const inOrder = (): Array<[number, Row[]]> => [...lists].sort(([a], [b]) => a - b);

  return {
    add(row) {
      const list = lists.get(row.depth);
      if (list === undefined) {
        lists.set(row.depth, [row]);
        return;
      }
      const index = placeOf(row, list);
      if (list[index] !== row) list.splice(index, 0, row);
    },

    *list() {
      for (const [, list] of inOrder()) for (const row of list) if (row.state === 'queued') yield row;
    },

    take(limit, nowMs) {
      const taken: Row[] = [];
      for (const [depth, list] of inOrder()) {
        const waiting: Row[] = [];
        let passed = 0;
        while (passed < list.length && taken.length < limit) {
          const row = list[passed];
          passed += 1;
          if (row?.state !== 'queued') continue;
          if (row.dueAtMs <= nowMs) taken.push(row);
          else waiting.push(row);
        }
        list.splice(0, passed);
        if (waiting.length > 0) lists.set(depth, waiting.concat(list));
        if (taken.length === limit) break;
      }
      return taken;
    },
  };
}

/** The index at which a row is, or would be. New rows have the highest id, so most are at the end. */
function placeOf(row: Row, list: readonly Row[]): number {
  if ((list.at(-1)?.id ?? 0) < row.id) return list.length;
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.id ?? 0) < row.id) low = middle + 1;
    else high = middle;
  }
  return low;
}
