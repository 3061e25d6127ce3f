import { createHash } from 'node:crypto';
import { type BundleFile, type BundleManifest, MANIFEST_PATH, SIGNATURE_PATH } from '../contract/bundle.ts';
import { BundleInvalidError, NoManifestError, quoted } from './errors.ts';
import { type Bound, bytesOf, type Entry, readEntries } from './read-entries.ts';

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
const END_BYTES = 1024 * 1024;

/**
 * The first entries of an archive, as they are: not checked. `pathOf`: the archive has none, and the manifest is computed
 * (`computeManifest`).
 */
export type Head = { manifest: Buffer; signature?: Buffer; pathOf?: (entry: Entry) => string | undefined };

type Reading = {
  /** Checks the head and returns its manifest. No file is read before. */
  onHead(head: Head): BundleManifest;
  /** Gets each file of the manifest once, in the archive's order. It needn't read the content, whose hash isn't checked. */
  onFile(file: BundleFile, content: AsyncIterable<Buffer>): Promise<void>;
  signal?: AbortSignal;
  /** The head that is known already, if it is computed. */
  computed?: Head | undefined;
};

/**
 * Reads a whole bundle. Returns its head and manifest once every file was there, with its size, and nothing else.
 * @throws BundleInvalidError naming what is wrong; errors of the source and of the callbacks unchanged
 */
export async function readBundle(
  source: AsyncIterable<Buffer>,
  { onHead, onFile, signal, computed }: Reading,
): Promise<{ head: Head; manifest: BundleManifest }> {
  const bound: Bound = { maxBytes: MAX_MANIFEST_BYTES + END_BYTES };
  let head: Head | undefined;
  let contents: { head: Head; manifest: BundleManifest } | undefined;
  const missing = new Map<string, BundleFile>();
  const openContents = (complete: Head | undefined): NonNullable<typeof contents> => {
    if (complete === undefined) throw new BundleInvalidError('the archive is empty');
    const manifest = onHead(complete);
    // Folders have entries too, and the one pass over the archive has bounded them.
    bound.maxBytes = computed === undefined ? unpackedBound(manifest.files) + complete.manifest.length : Infinity;
    for (const file of manifest.files) missing.set(file.path, file);
    return { head: complete, manifest };
  };
  if (computed !== undefined) contents = openContents(computed);
  const onEntry = async (entry: Entry): Promise<undefined> => {
    const path = computed?.pathOf === undefined ? entry.header.name : computed.pathOf(entry);
    if (path === undefined) return;
    if (contents === undefined) {
      const more = await readHeadEntry(head, entry);
      if (more !== undefined) {
        head = more;
        return;
      }
      contents = openContents(head);
    }
    const file = takeFile(missing, path, entry);
    if (file === undefined) {
      throw new BundleInvalidError(`the entry ${quoted(entry.header.name)} occurs twice or is not in the manifest`);
    }
    await onFile(file, bytesOf(entry));
  };
  await readEntries(source, bound, onEntry, signal, { folders: computed !== undefined });
  contents ??= openContents(head);
  const [absent] = missing.keys();
  if (absent !== undefined) {
    throw new BundleInvalidError(`${missing.size} files are missing, the first is ${quoted(absent)}`);
  }
  return contents;
}

/**
 * Reads the head of an archive, and no more of the source than that takes.
 * @throws BundleInvalidError; errors of the source unchanged
 */
export async function readBundleHead(source: AsyncIterable<Buffer>): Promise<Head> {
  let head: Head | undefined;
  const onEntry = async (entry: Entry): Promise<'stop' | undefined> => {
    const read = await readHeadEntry(head, entry);
    if (read === undefined) return 'stop';
    head = read;
    return undefined;
  };
  await readEntries(source, { maxBytes: MAX_MANIFEST_BYTES + END_BYTES }, onEntry, undefined, { folders: true });
  if (head === undefined) throw new BundleInvalidError('the archive is empty');
  return head;
}

/**
 * Reads some of a bundle's members, and `onFile` gets those of their files that are missing, which it removes from
 * there.
 * @throws BundleInvalidError; errors of the source and of `onFile` unchanged
 */
export async function readMembers(
  source: AsyncIterable<Buffer>,
  files: readonly BundleFile[],
  { missing, onFile, signal }: Pick<Reading, 'onFile' | 'signal'> & { missing: Map<string, BundleFile> },
): Promise<void> {
  await readEntries(
    source,
    { maxBytes: unpackedBound(files) },
    async (entry) => {
      const file = takeFile(missing, entry.header.name, entry);
      if (file !== undefined) await onFile(file, bytesOf(entry));
      return undefined;
    },
    signal,
  );
}

/** Undefined if it isn't missing. */
function takeFile(missing: Map<string, BundleFile>, path: string, { header: { size } }: Entry): BundleFile | undefined {
  const file = missing.get(path);
  if (file !== undefined && file.size !== size) {
    throw new BundleInvalidError(`the entry ${quoted(path)} has another size than the manifest says`);
  }
  missing.delete(path);
  return file;
}

/** Returns undefined, and reads nothing, if the head is complete: the entry is a file. */
async function readHeadEntry(head: Head | undefined, entry: Entry): Promise<Head | undefined> {
  const { name, size = 0 } = entry.header;
  if (head === undefined) {
    if (name !== MANIFEST_PATH) throw new NoManifestError(`the archive doesn't begin with ${MANIFEST_PATH}`);
    if (size > MAX_MANIFEST_BYTES) throw new BundleInvalidError('the manifest is too large');
    return { manifest: await wholeEntry(entry) };
  }
  if (name !== SIGNATURE_PATH || head.signature !== undefined) return undefined;
  if (size > MAX_SIGNATURE_BYTES) throw new BundleInvalidError('the signature is too large');
  return { ...head, signature: await wholeEntry(entry) };
}

async function wholeEntry(entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytesOf(entry)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The most that these files have in a tar file. */
function unpackedBound(files: readonly BundleFile[]): number {
  return files.reduce((sum, { size }) => sum + size + OVERHEAD_BYTES_PER_FILE, END_BYTES);
}

/** What a file must be. `sha256` undefined: not checked (the manifest, which can't contain its own hash). */
export type ExpectedFile = { path: string; size: number; sha256: string | undefined };

/** Passes a file's content on and throws `BundleInvalidError`, at its end at the latest, if it isn't as expected. */
export async function* checkedContent(
  { path, size, sha256 }: ExpectedFile,
  content: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let seenBytes = 0;
  for await (const chunk of content) {
    seenBytes += chunk.length;
    if (seenBytes > size) break;
    hash.update(chunk);
    yield chunk;
  }
  if (seenBytes !== size) throw new BundleInvalidError(`the file ${quoted(path)} has another size than announced`);
  if (sha256 !== undefined && hash.digest('hex') !== sha256) {
    throw new BundleInvalidError(`the file ${quoted(path)} doesn't match its sha256`);
  }
}
