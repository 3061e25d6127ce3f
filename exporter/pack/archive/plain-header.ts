export const BLOCK_BYTES = 512;

const NAME_BYTES = 100;
const MAX_OCTAL_SIZE = 8 ** 11;
const SIZE_AT = 124;
const CHECKSUM_AT = 148;
const ASCII = /^[\x20-\x7e]+$/;

/** A header without name, size and checksum: mode 644, no owner, no time. */
const TEMPLATE = Buffer.alloc(BLOCK_BYTES);
for (const [at, text] of [
  [100, '000644 '],
  [108, '000000 '],
  [116, '000000 '],
  [136, '00000000000 '],
  [156, '0'],
  [257, 'ustar\0'],
  [263, '00'],
  [329, '000000 '],
  [337, '000000 '],
] as const) {
  TEMPLATE.write(text, at, 'latin1');
}
/** The checksum's own eight bytes count as spaces. */
const TEMPLATE_SUM = TEMPLATE.reduce((sum, byte) => sum + byte, 8 * 32);

function write(header: Buffer, at: number, text: string): number {
  let sum = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    header[at + index] = code;
    sum += code;
  }
  return sum;
}

/** Whether a single header block can describe the file. */
export function isPlain(path: string, sizeBytes: number): boolean {
  return path.length <= NAME_BYTES && sizeBytes < MAX_OCTAL_SIZE && ASCII.test(path);
}

/**
 * Writes the header of a plain file, as most are, into a block. A library's stream for each header would take as long
 * as the compression's own overhead.
 */
export function writePlainHeader(block: Buffer, path: string, sizeBytes: number): void {
  TEMPLATE.copy(block);
  const nameSum = write(block, 0, path);
  const sizeSum = write(block, SIZE_AT, `${sizeBytes.toString(8).padStart(11, '0')} `);
  write(block, CHECKSUM_AT, `${(TEMPLATE_SUM + nameSum + sizeSum).toString(8).padStart(6, '0')} `);
}
