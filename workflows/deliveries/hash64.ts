/** The base64url alphabet. */
export const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * A 64-bit hash of a text as 11 base64url characters. Not cryptographic: the texts come from verified deliveries. Workflow
 * code has no crypto module and must be deterministic.
 */
export function hash64(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x5bd1e995;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit ^ (low >>> 15), 0x85ebca6b);
    high = (high << 13) | (high >>> 19);
  }
  return encode(mix(low ^ Math.imul(text.length, 0x9e3779b1)), mix(high ^ low));
}

/** Spreads every input bit over the whole word. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** The 64 bits `first:second`, six at a time from the lowest. BigInt would be too slow in a burst of deliveries. */
function encode(first: number, second: number): string {
  let text = '';
  for (let shift = 0; shift < 30; shift += 6) text += digit(second >>> shift);
  text += digit((second >>> 30) | (first << 2));
  for (let shift = 4; shift < 32; shift += 6) text += digit(first >>> shift);
  return text;
}

function digit(bits: number): string {
  return DIGITS[bits & 63] ?? 'A';
}
