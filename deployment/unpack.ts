import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import tar from 'tar-stream';
import type { BundleFile, BundleManifest } from '../contract/bundle.ts';
import {
  bytesOf,
  checkIsFile,
  createBound,
  END_BYTES,
  type Head,
  MAX_MANIFEST_BYTES,
  readHeadEntry,
  unpackedBound,
  writeHead,
} from './archive-entries.ts';
import { BundleInvalidError } from './errors.ts';
import { codeOf, isSystemFault, messageOf } from './fault.ts';
import { type BundleLimits, checkManifest, quoted } from './manifest.ts';
import { checkSignature } from './signature.ts';
import { createTreeWriter, type TreeWriter } from './tree-writer.ts';

type UnpackRequest = {
  archive: string;
  /** An empty folder of our own. */
  folder: string;
  limits: BundleLimits;
  signal: AbortSignal;
  /** The bundle must be signed for this key; undefined: it may be unsigned. */
  publicKey?: string | undefined;
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
  request: UnpackRequest,
  raiseBound: (bytes: number) => void,
): Promise<BundleManifest> {
  let head: Head | undefined;
  let contents: Contents | undefined;
  for await (const entry of extract) {
    checkIsFile(entry);
    if (contents === undefined) {
      const read = await readHeadEntry(head, entry);
      head = read ?? head;
      if (read !== undefined || head === undefined) continue;
      contents = await openContents(head, writer, request, raiseBound);
    }
    const { name, size = 0 } = entry.header;
    const file = contents.missing.get(name);
    if (file === undefined)
      throw new BundleInvalidError(`the entry ${quoted(name)} stands twice or is not in the manifest`);
    if (file.size !== size)
      throw new BundleInvalidError(`the entry ${quoted(name)} has another size than the manifest says`);
    contents.missing.delete(name);
    await writer.write(file, bytesOf(entry));
  }
  if (head === undefined) throw new BundleInvalidError('the archive is empty');
  const { manifest, missing } = contents ?? (await openContents(head, writer, request, raiseBound));
  const [absent] = missing.keys();
  if (absent !== undefined)
    throw new BundleInvalidError(`${missing.size} files are missing, the first is ${quoted(absent)}`);
  return manifest;
}

type Contents = { manifest: BundleManifest; missing: Map<string, BundleFile> };

/** Checks the head of an archive and writes it. Nothing is written before. */
async function openContents(
  head: Head,
  writer: TreeWriter,
  { limits, publicKey, accept }: UnpackRequest,
  raiseBound: (bytes: number) => void,
): Promise<Contents> {
  checkSignature(publicKey, head.manifest, head.signature);
  const manifest = checkManifest(head.manifest, limits);
  accept(manifest);
  raiseBound(unpackedBound(manifest.files) + head.manifest.length);
  await writeHead(writer, head);
  return { manifest, missing: new Map(manifest.files.map((file) => [file.path, file])) };
}

/**
 * Finds the cause. `error` ended the reading of entries, `fault` the stream of bytes; one causes the other, so both may
 * be set. A full or broken disk isn't the archive's fault.
 */
export function blame(error: unknown, fault: unknown): unknown {
  if (error instanceof BundleInvalidError) return error;
  if (fault === undefined || fault instanceof BundleInvalidError || isSystemFault(fault)) return fault ?? error;
  if (isSystemFault(error) || codeOf(fault) === 'ERR_STREAM_PREMATURE_CLOSE') return error;
  return new BundleInvalidError(`the archive can't be unpacked: ${messageOf(fault)}`);
}
