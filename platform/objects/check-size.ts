import type { Readable } from 'node:stream';

/**
 * Counts the bytes of a source while they are read, and fails at its end if the number isn't `sizeBytes`: a store must
 * not keep a truncated object.
 */
export function checkSize(
  source: Uint8Array | Readable,
  { key, sizeBytes }: { key: string; sizeBytes: number | undefined },
): { chunks: AsyncIterable<Uint8Array>; sizeBytes(): number } {
  let counted = 0;
  async function* chunks(): AsyncIterable<Uint8Array> {
    for await (const chunk of source instanceof Uint8Array ? [source] : source) {
      counted += chunk.byteLength;
      yield chunk;
    }
    if (sizeBytes !== undefined && counted !== sizeBytes) {
      throw new Error(`Expected ${sizeBytes} bytes for ${key} and got ${counted}`);
    }
  }
  return { chunks: chunks(), sizeBytes: () => counted };
}
