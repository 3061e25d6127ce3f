import type { Readable } from 'node:stream';

/**
 * Counts the bytes of a source as they are read, and fails at its end where their number isn't the one that was told:
 * a store must not keep a cut-off object.
 */
export function measure(
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
