/**
 * Reads a body whole, up to `maxBytes`. Throws what `tooLong` makes where more comes, and what the body itself fails
 * with: what is still to come when a deadline ends must not pass for an answer.
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
