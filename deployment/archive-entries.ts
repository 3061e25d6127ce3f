import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract as extractTar, type Header } from 'tar-stream';
import { type BundleFile, MANIFEST_PATH, SIGNATURE_PATH } from '../contract/bundle.ts';
import { BundleInvalidError } from './errors.ts';
import { reason } from './fault.ts';
import { quoted } from './manifest.ts';
import type { TreeWriter } from './tree-writer.ts';

/**
 * An entry has about 250 bytes, so this allows 250,000 files with three precompressed siblings each. The manifest is
 * read into memory.
 */
export const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

/** A base64 ed25519 signature has 88 characters. */
const MAX_SIGNATURE_BYTES = 1024;

/** The most that tar adds to a file: its header, a pax header with a long path, and padding. */
const OVERHEAD_BYTES_PER_FILE = 8 * 1024;

/** The most that tar adds to an archive, and more. */
export const END_BYTES = 1024 * 1024;

export type Entry = AsyncIterable<unknown> & { header: Header };

/** The first entries of an archive. */
export type Head = { manifest: Buffer; signature?: Buffer };

/** @throws BundleInvalidError if the entry is a folder, a link or the like */
export function checkIsFile({ header: { name, type } }: Entry): void {
  if (type !== 'file') throw new BundleInvalidError(`the entry ${quoted(name)} is a ${type ?? 'thing'}, not a file`);
}

/**
 * Reads an entry of the head. Returns undefined, and reads nothing, if the head is complete: the entry is a file.
 * @throws BundleInvalidError if the archive doesn't begin with a manifest, or part of its head is too large
 */
export async function readHeadEntry(head: Head | undefined, entry: Entry): Promise<Head | undefined> {
  const { name, size = 0 } = entry.header;
  if (head === undefined) {
    if (name !== MANIFEST_PATH) throw new BundleInvalidError(`the archive doesn't begin with ${MANIFEST_PATH}`);
    if (size > MAX_MANIFEST_BYTES) throw new BundleInvalidError('the manifest is too large');
    return { manifest: await wholeEntry(entry) };
  }
  if (name !== SIGNATURE_PATH || head.signature !== undefined) return undefined;
  if (size > MAX_SIGNATURE_BYTES) throw new BundleInvalidError('the signature is too large');
  return { ...head, signature: await wholeEntry(entry) };
}

/**
 * Reads the head of an archive, and no more of the source than that takes. Destroys the source.
 * @throws BundleInvalidError
 */
export async function readBundleHead(source: Readable): Promise<Head> {
  const extract = extractTar();
  const bound = createBound(MAX_MANIFEST_BYTES + END_BYTES);
  const pumped = pipeline(source, createGunzip(), bound.stream, extract).then(
    () => undefined,
    (error: unknown) => error,
  );
  let head: Head | undefined;
  try {
    for await (const entry of extract) {
      checkIsFile(entry);
      const read = await readHeadEntry(head, entry);
      if (read === undefined) break;
      head = read;
    }
  } catch (error) {
    const fault = (await pumped) ?? error;
    if (fault instanceof BundleInvalidError || error instanceof BundleInvalidError) throw error;
    throw new BundleInvalidError(`the archive's head can't be unpacked (${reason(fault)})`);
  } finally {
    extract.destroy();
    source.destroy();
    await pumped;
  }
  if (head === undefined) throw new BundleInvalidError('the archive is empty');
  return head;
}

/** Writes a checked head. */
export async function writeHead(writer: TreeWriter, { manifest, signature }: Head): Promise<void> {
  await writer.write({ path: MANIFEST_PATH, size: manifest.length, sha256: undefined }, [manifest]);
  if (signature === undefined) return;
  await writer.write({ path: SIGNATURE_PATH, size: signature.length, sha256: undefined }, [signature]);
}

async function wholeEntry(entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytesOf(entry)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function* bytesOf(entry: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of entry) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('expected bytes of an entry');
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
}

/** The most that these files have in a tar file. */
export function unpackedBound(files: readonly BundleFile[]): number {
  return files.reduce((sum, { size }) => sum + size + OVERHEAD_BYTES_PER_FILE, END_BYTES);
}

/** Counts unpacked bytes, so that a small archive can't fill the disk or never end. */
export function createBound(initialBytes: number): { stream: Transform; raise(bytes: number): void } {
  let limitBytes = initialBytes;
  let seenBytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seenBytes += chunk.length;
      if (seenBytes > limitBytes) done(new BundleInvalidError('the archive unpacks to more than its manifest says'));
      else done(null, chunk);
    },
  });
  return {
    stream,
    raise(bytes) {
      limitBytes = bytes;
    },
  };
}
