import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import tar from 'tar-stream';
import { type BundleManifest, MANIFEST_PATH } from '../contract/bundle.ts';
import { BundleInvalidError } from './errors.ts';
import { codeOf, isSystemFault, messageOf } from './fault.ts';
import { type BundleLimits, checkManifest, quoted } from './manifest.ts';
import { createTreeWriter, type TreeWriter } from './tree-writer.ts';

/**
 * An entry has about 200 bytes, so this allows 300,000 files with three precompressed siblings each. The manifest is
 * read into memory.
 */
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

/** The most that tar adds to a file: its header, a pax header with a long path, and padding. */
const OVERHEAD_BYTES_PER_FILE = 8 * 1024;
const END_BYTES = 1024 * 1024;

type UnpackRequest = {
  archive: string;
  /** An empty folder of our own. */
  folder: string;
  limits: BundleLimits;
  signal: AbortSignal;
  /** Called with the checked manifest before any file is written; an error ends the unpacking. */
  accept(manifest: BundleManifest): void;
};

/**
 * Unpacks a bundle into the folder. Returns its manifest once all entries match it and everything is on the disk. Never
 * writes outside the folder or more than the manifest announces.
 * @throws BundleInvalidError naming what is wrong
 */
export async function unpackBundle(request: UnpackRequest): Promise<BundleManifest> {
  const extract = tar.extract();
  const bound = createBound(MAX_MANIFEST_BYTES + END_BYTES);
  const writer = createTreeWriter(request.folder);
  const pumping = pipeline(createReadStream(request.archive), createGunzip(), bound.stream, extract, {
    signal: request.signal,
  });
  const pumped = pumping.then(
    () => undefined,
    (error: unknown) => error,
  );
  try {
    const manifest = await readEntries(extract, writer, request, bound.raise);
    const fault = await pumped;
    if (fault !== undefined) throw fault;
    await writer.finish();
    return manifest;
  } catch (error) {
    extract.destroy();
    const fault = await pumped;
    await writer.abandon();
    request.signal.throwIfAborted();
    throw blame(error, fault);
  }
}

async function readEntries(
  extract: tar.Extract,
  writer: TreeWriter,
  { limits, accept }: UnpackRequest,
  raiseBound: (bytes: number) => void,
): Promise<BundleManifest> {
  let manifest: BundleManifest | undefined;
  const missing = new Map<string, BundleManifest['files'][number]>();
  for await (const entry of extract) {
    const { name, size = 0, type } = entry.header;
    if (type !== 'file') throw new BundleInvalidError(`the entry ${quoted(name)} is a ${type ?? 'thing'}, not a file`);
    if (manifest === undefined) {
      if (name !== MANIFEST_PATH) throw new BundleInvalidError(`the archive doesn't begin with ${MANIFEST_PATH}`);
      if (size > MAX_MANIFEST_BYTES) throw new BundleInvalidError('the manifest is too large');
      const chunks: Buffer[] = [];
      for await (const chunk of bytesOf(entry)) chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      manifest = checkManifest(bytes, limits);
      accept(manifest);
      for (const file of manifest.files) missing.set(file.path, file);
      raiseBound(
        manifest.files.reduce((sum, file) => sum + file.size + OVERHEAD_BYTES_PER_FILE, bytes.length + END_BYTES),
      );
      await writer.write({ path: MANIFEST_PATH, size: bytes.length, sha256: undefined }, [bytes]);
      continue;
    }
    const file = missing.get(name);
    if (file === undefined)
      throw new BundleInvalidError(`the entry ${quoted(name)} stands twice or is not in the manifest`);
    if (file.size !== size)
      throw new BundleInvalidError(`the entry ${quoted(name)} has another size than the manifest says`);
    missing.delete(name);
    await writer.write(file, bytesOf(entry));
  }
  if (manifest === undefined) throw new BundleInvalidError('the archive is empty');
  const [absent] = missing.keys();
  if (absent !== undefined)
    throw new BundleInvalidError(`${missing.size} files are missing, the first is ${quoted(absent)}`);
  return manifest;
}

async function* bytesOf(entry: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of entry) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('expected bytes of an entry');
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
}

/** Counts unpacked bytes, so that a small archive can't fill the disk or never end. */
function createBound(initialBytes: number): { stream: Transform; raise(bytes: number): void } {
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

/**
 * Finds the cause. `error` ended the reading of entries, `fault` the stream of bytes; one causes the other, so both may
 * be set. A full or broken disk isn't the archive's fault.
 */
function blame(error: unknown, fault: unknown): unknown {
  if (error instanceof BundleInvalidError) return error;
  if (fault === undefined || fault instanceof BundleInvalidError || isSystemFault(fault)) return fault ?? error;
  if (isSystemFault(error) || codeOf(fault) === 'ERR_STREAM_PREMATURE_CLOSE') return error;
  return new BundleInvalidError(`the archive can't be unpacked: ${messageOf(fault)}`);
}
