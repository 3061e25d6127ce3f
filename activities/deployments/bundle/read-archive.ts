import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import tar from 'tar-stream';
import {
  BUNDLE_FORMAT_VERSION,
  type BundleFile,
  type BundleManifest,
  bundleManifest,
  MANIFEST_PATH,
} from '../../../contract/bundle.ts';
import { pathProblem } from './path-problem.ts';

const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

type Reader = {
  /** Called with the checked manifest, before any file. */
  onManifest(manifest: BundleManifest): void | Promise<void>;
  /** Whether to read this file; others are only checked to be there. */
  wants(file: BundleFile): boolean;
  /** Gets a wanted file. Its content throws at the end if size or hash differ from the manifest. */
  onFile(file: BundleFile, content: AsyncIterable<Buffer>): Promise<void>;
};

/**
 * Reads a bundle's archive from the start to the end. Returns its manifest once every file that it names was there.
 * Throws an error that says what is wrong with the archive.
 */
export async function readArchive(archive: string, reader: Reader, signal: AbortSignal): Promise<BundleManifest> {
  const entries = tar.extract();
  const unpacked = pipeline(createReadStream(archive), createGunzip(), entries, { signal }).then(
    () => undefined,
    (error: unknown) => error,
  );
  try {
    const manifest = await readEntries(entries, reader);
    const fault = await unpacked;
    if (fault !== undefined) throw fault;
    return manifest;
  } catch (error) {
    entries.destroy();
    await unpacked;
    signal.throwIfAborted();
    throw error;
  }
}

async function readEntries(entries: tar.Extract, reader: Reader): Promise<BundleManifest> {
  let manifest: BundleManifest | undefined;
  const missing = new Map<string, BundleFile>();
  for await (const entry of entries) {
    const { name, type, size = 0 } = entry.header;
    if (type !== 'file') throw invalid(`${JSON.stringify(name.slice(0, 100))} is no file`);
    if (manifest === undefined) {
      if (name !== MANIFEST_PATH || size > MAX_MANIFEST_BYTES) throw invalid(`it doesn't begin with ${MANIFEST_PATH}`);
      const chunks: Buffer[] = [];
      for await (const chunk of bytesOf(entry)) chunks.push(chunk);
      manifest = parseManifest(Buffer.concat(chunks));
      for (const file of manifest.files) missing.set(file.path, file);
      await reader.onManifest(manifest);
      continue;
    }
    const file = missing.get(name);
    missing.delete(name);
    if (file !== undefined && reader.wants(file)) await reader.onFile(file, checked(file, bytesOf(entry)));
    else for await (const _ of entry);
  }
  const [absent] = missing.keys();
  if (manifest === undefined) throw invalid('it is empty');
  if (absent !== undefined) throw invalid(`${missing.size} files are missing, the first is ${JSON.stringify(absent)}`);
  return manifest;
}

function parseManifest(bytes: Buffer): BundleManifest {
  const { data: manifest, error } = bundleManifest.safeParse(jsonOf(bytes));
  if (error) throw invalid(`its manifest has no valid ${error.issues[0]?.path.join('.') || 'content'}`);
  if (manifest.formatVersion > BUNDLE_FORMAT_VERSION) throw invalid(`its format ${manifest.formatVersion} is newer`);
  for (const { path } of manifest.files) {
    const problem = pathProblem(path);
    if (problem !== undefined) throw invalid(`the path ${JSON.stringify(path.slice(0, 100))} ${problem}`);
  }
  return manifest;
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

async function* checked(file: BundleFile, content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== file.sha256) throw invalid(`${file.path} has other bytes than its manifest says`);
}

async function* bytesOf(entry: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of entry) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('expected bytes of an entry');
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
}

function invalid(why: string): Error {
  return new Error(`the archive is no valid bundle: ${why}`);
}
