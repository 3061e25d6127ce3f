/**
 * Divides files, in the bundle's order, into batches: by their sizes and number alone, so that the pieces of the
 * archive are the same however many workers make them. Returns each file's batch number.
 */
export function divideIntoBatches(
  sizes: readonly number[],
  { batchFiles, batchBytes }: { batchFiles: number; batchBytes: number },
): number[] {
  const batches: number[] = [];
  let batch = 0;
  let files = 0;
  let bytes = 0;
  for (const size of sizes) {
    if (files > 0 && (files >= batchFiles || bytes + size > batchBytes)) {
      batch += 1;
      files = 0;
      bytes = 0;
    }
    files += 1;
    bytes += size;
    batches.push(batch);
  }
  return batches;
}
