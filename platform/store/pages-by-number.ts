/**
 * Rows that are numbered from 0 without gaps, in pages: `readAfter` reads up to `pageRows` rows after a number, in
 * order.
 */
export async function* pagesByNumber<Row extends { number: number }>(
  pageRows: number,
  readAfter: (after: number) => PromiseLike<Row[]>,
): AsyncGenerator<Row> {
  let after = -1;
  while (true) {
    const rows = await readAfter(after);
    yield* rows;
    if (rows.length < pageRows) return;
    after = rows.at(-1)?.number ?? after;
  }
}
