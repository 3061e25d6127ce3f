/**
 * The length of a bundle's head, in the header of the archive's first gzip member. The head is the members of
 * `.galley/manifest.json` and, in a signed bundle, of `.galley/manifest.sig`; all other members follow it. Readers of
 * `.tar.gz` skip the field (RFC 1952, section 2.3.1.1).
 */
const ID = 'Gy';
const VALUE_BYTES = 8;
const SUBFIELD_BYTES = 4 + VALUE_BYTES;
/** Its own two bytes of length, then the subfield. */
const EXTRA_BYTES = 2 + SUBFIELD_BYTES;

const HEADER_BYTES = 10;
const FLAGS_AT = 3;
const HAS_EXTRA = 4;

/** How many bytes at the start of an archive `readHeadLength` needs. */
export const HEAD_LENGTH_BYTES = HEADER_BYTES + EXTRA_BYTES;

/**
 * The first member with the length of the whole head in its header.
 * @param member the first gzip member, without an extra field
 * @param restBytes the size of the head's other members
 */
export function withHeadLength(member: Uint8Array, restBytes: number): Buffer {
  const extra = Buffer.alloc(EXTRA_BYTES);
  extra.writeUInt16LE(SUBFIELD_BYTES, 0);
  extra.write(ID, 2, 'latin1');
  extra.writeUInt16LE(VALUE_BYTES, 4);
  extra.writeBigUInt64LE(BigInt(member.length + EXTRA_BYTES + restBytes), 6);
  const marked = Buffer.concat([member.subarray(0, HEADER_BYTES), extra, member.subarray(HEADER_BYTES)]);
  marked[FLAGS_AT] = (marked[FLAGS_AT] ?? 0) | HAS_EXTRA;
  return marked;
}

/** The head's length in bytes; undefined if the archive doesn't say, or is none. */
export function readHeadLength(start: Buffer): number | undefined {
  if (start.length < HEAD_LENGTH_BYTES || start.readUInt16BE(0) !== 0x1f8b) return undefined;
  if (((start[FLAGS_AT] ?? 0) & HAS_EXTRA) === 0) return undefined;
  const extra = start.subarray(HEADER_BYTES, HEAD_LENGTH_BYTES);
  if (extra.readUInt16LE(0) !== SUBFIELD_BYTES || extra.toString('latin1', 2, 4) !== ID) return undefined;
  const bytes = Number(extra.readBigUInt64LE(6));
  return Number.isSafeInteger(bytes) && bytes > HEAD_LENGTH_BYTES ? bytes : undefined;
}
