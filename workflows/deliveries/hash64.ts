/**
 * A 64-bit hash of a text as 11 characters (base64url alphabet). Not cryptographic: the texts come from verified
 * deliveries. Plain arithmetic, because workflow code has no crypto and must give the same on every replay.
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

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function encode(first: number, second: number): string {
  let bits = (BigInt(first) << 32n) | BigInt(second);
  let text = '';
  for (let digit = 0; digit < 11; digit++) {
    text += DIGITS[Number(bits & 63n)] ?? 'A';
    bits >>= 6n;
  }
  return text;
}
