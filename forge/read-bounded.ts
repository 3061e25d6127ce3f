/**
 * Reads a whole body up to `maxBytes`. Throws `tooLong()` if it is longer, and the body's own errors: a body cut by a
 * timeout must not pass as complete.
 */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, tooLong }: { maxBytes: number; tooLong: () => Error },
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
