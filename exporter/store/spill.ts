import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** The position of a text in a spill, in bytes. */
export type Extent = { offset: number; length: number };

/** Texts that are written once and rarely read. The newest are in memory, older ones in a file. */
export type Spill = {
  write(text: string): Extent;
  read(place: Extent): string;
  close(): void;
};

/** Enough for the rows of a few thousand pages, so most exports never write the file. */
const MEMORY_BYTES = 4 * 1024 * 1024;
/** Rows are mostly read in the order in which they were written. */
const READ_AHEAD_BYTES = 64 * 1024;

/**
 * A spill whose file is created when it is first needed. Reads and writes are synchronous, so that a caller's changes are
 * never interleaved with others. They reach the page cache only, which takes microseconds.
 */
export function createSpill(path: string, { memoryBytes = MEMORY_BYTES }: { memoryBytes?: number } = {}): Spill {
  const tail = Buffer.allocUnsafe(memoryBytes);
  let tailBytes = 0;
  let fileBytes = 0;
  let file: number | undefined;
  let ahead: { offset: number; bytes: Buffer } = { offset: 0, bytes: Buffer.alloc(0) };

  function append(bytes: Buffer): void {
    file ??= openSync(path, 'w+', 0o600);
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(file, bytes, written, bytes.length - written, fileBytes + written);
    }
    fileBytes += bytes.length;
  }

  function readAhead(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(Math.min(Math.max(length, READ_AHEAD_BYTES), fileBytes - offset));
    let filled = 0;
    while (file !== undefined && filled < bytes.length) {
      const count = readSync(file, bytes, filled, bytes.length - filled, offset + filled);
      if (count === 0) throw new Error(`${path} is shorter than what was written to it`);
      filled += count;
    }
    return bytes;
  }

  return {
    write(text) {
      const length = Buffer.byteLength(text);
      if (tailBytes + length > tail.length) {
        append(tail.subarray(0, tailBytes));
        tailBytes = 0;
      }
      const offset = fileBytes + tailBytes;
      if (length > tail.length) append(Buffer.from(text));
      else tailBytes += tail.write(text, tailBytes);
      return { offset, length };
    },

    read({ offset, length }) {
      if (offset >= fileBytes) return tail.toString('utf8', offset - fileBytes, offset - fileBytes + length);
      if (offset < ahead.offset || offset + length > ahead.offset + ahead.bytes.length) {
        ahead = { offset, bytes: readAhead(offset, length) };
      }
      const start = offset - ahead.offset;
      return ahead.bytes.toString('utf8', start, start + length);
    },

    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
