import { pack } from 'tar-stream';
import type { BundleFile } from '../../../contract/bundle.ts';

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
function isPlain(path: string, sizeBytes: number): boolean {
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

/** The end of a tar file, removed from each piece so that pieces can follow one another. */
export const END_BYTES = 1024;

type TarEntry = Pick<ArchiveEntry, 'path' | 'bytes'>;

/** Every member's header except its name and size. */
export function tarHeader(path: string, sizeBytes: number) {
  return { name: path, size: sizeBytes, mode: 0o644, mtime: new Date(0), uid: 0, gid: 0, type: 'file' } as const;
}

/**
 * Files as tar members without the end of the archive. Times, modes and owners are fixed, so equal files produce equal
 * bytes. Names that are long or not ASCII are written as pax records.
 */
export async function tarBlocks(entries: readonly TarEntry[]): Promise<Buffer> {
  const isEachPlain = entries.every(({ path, bytes }) => isPlain(path, bytes.byteLength));
  return isEachPlain ? plainBlocks(entries) : packedBlocks(entries);
}

function plainBlocks(entries: readonly TarEntry[]): Buffer {
  const blocksOf = ({ bytes }: TarEntry): number => BLOCK_BYTES * (1 + Math.ceil(bytes.byteLength / BLOCK_BYTES));
  const blocks = Buffer.alloc(entries.reduce((sum, entry) => sum + blocksOf(entry), 0));
  let at = 0;
  for (const entry of entries) {
    writePlainHeader(blocks.subarray(at, at + BLOCK_BYTES), entry.path, entry.bytes.byteLength);
    blocks.set(entry.bytes, at + BLOCK_BYTES);
    at += blocksOf(entry);
  }
  return blocks;
}

async function packedBlocks(entries: readonly TarEntry[]): Promise<Buffer> {
  const tar = pack();
  for (const { path, bytes } of entries) {
    tar.entry(tarHeader(path, bytes.byteLength), Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  tar.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of tar) if (chunk instanceof Uint8Array) chunks.push(chunk);
  return Buffer.concat(chunks).subarray(0, -END_BYTES);
}

export function endOfTar(): Buffer {
  return Buffer.alloc(END_BYTES);
}

/** A file to be archived: `path` is relative to the bundle's root, with `/`. */
export type ArchiveEntry = { path: string; bytes: Uint8Array; contentType: string };

/**
 * A piece of the archive: one gzip member. Members concatenated in the order manifest, files, trailer are a valid
 * `.tar.gz`, so pieces can be made separately and streamed one after another.
 */
export type ArchiveMember = { bytes: Uint8Array; files: BundleFile[] };

/** `level` is zlib's, 0 to 9; 6 by default. */
export type ArchiveOptions = { level?: number };
