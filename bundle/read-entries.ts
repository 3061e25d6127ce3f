import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract as extractTar, type Header } from 'tar-stream';
import { errorCode, errorText, isSystemError } from '../base/error-code.ts';
import { BundleInvalidError, quoted } from './errors.ts';

export type Entry = AsyncIterable<unknown> & { header: Header };

/** Also archives of 1979 (v7), whose headers have a checksum but no name of the format. The package's types lack this. */
const OF_ANY_TAR: Parameters<typeof extractTar>[0] & { allowUnknownFormat: true } = { allowUnknownFormat: true };

/** How much the bytes may unpack to, so that a small archive can't fill the disk or never end. It may be raised. */
export type Bound = { maxBytes: number; limit?: string };

/**
 * Unpacks `.tar.gz` bytes and calls `onEntry` with each file in order. A file needn't be read. No more of the source is
 * read once `onEntry` returns `stop`.
 * @param options `folders`: entries of folders are allowed, and passed on
 * @throws BundleInvalidError if the bytes are no archive of files or unpack to more than the bound. Errors of the source,
 *   of `onEntry` and of the disk are thrown unchanged.
 */
export async function readEntries(
  source: AsyncIterable<Buffer>,
  bound: Bound,
  onEntry: (entry: Entry) => Promise<'stop' | undefined>,
  signal?: AbortSignal,
  { folders = false }: { folders?: boolean } = {},
): Promise<void> {
  const extract = extractTar(OF_ANY_TAR);
  let sourceError: unknown;
  async function* observed(): AsyncGenerator<Buffer> {
    try {
      yield* source;
    } catch (error) {
      sourceError = error;
      throw error;
    }
  }
  const pumped = pipeline(observed, createGunzip(), enforce(bound), extract, { signal }).then(
    () => undefined,
    (error: unknown) => error,
  );
  try {
    for await (const entry of extract) {
      const problem = kindProblem(entry.header, folders);
      if (problem !== undefined) throw new BundleInvalidError(problem);
      if ((await onEntry(entry)) === 'stop') {
        extract.destroy();
        await pumped;
        return;
      }
      entry.resume();
    }
    const fault = await pumped;
    if (fault !== undefined) throw fault;
  } catch (error) {
    extract.destroy();
    const fault = await pumped;
    signal?.throwIfAborted();
    throw sourceError ?? blame(error, fault);
  }
}

/** Only whole files: a link leads elsewhere, and the bytes of a sparse file aren't its content. */
function kindProblem({ name, type, pax }: Header, folders: boolean): string | undefined {
  const extra = new Map(Object.entries(pax ?? {}));
  const isSparse = [...extra.keys()].some((key) => key.startsWith('GNU.sparse.'));
  if (isSparse) return `the entry ${quoted(String(extra.get('GNU.sparse.name') ?? name))} is a sparse file`;
  if (type === 'file' || (folders && type === 'directory')) return undefined;
  // The package knows no type for GNU's older sparse files.
  const kind = type === 'link' ? 'hard link' : (type ?? 'sparse file, or of an unknown type');
  return `the entry ${quoted(name)} is a ${kind}, not a file`;
}

function enforce(bound: Bound): Transform {
  let seenBytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seenBytes += chunk.length;
      if (seenBytes > bound.maxBytes) {
        done(new BundleInvalidError(`the archive unpacks to more than ${bound.limit ?? 'its manifest says'}`));
      } else done(null, chunk);
    },
  });
}

/**
 * Finds the cause. `error` ended the reading of entries, `fault` the stream of bytes; one causes the other, so both may
 * be set. A full or broken disk isn't the archive's fault.
 */
function blame(error: unknown, fault: unknown): unknown {
  if (error instanceof BundleInvalidError) return error;
  if (fault === undefined || fault instanceof BundleInvalidError || isSystemError(fault)) return fault ?? error;
  if (isSystemError(error) || errorCode(fault) === 'ERR_STREAM_PREMATURE_CLOSE') return error;
  return new BundleInvalidError(`the archive can't be unpacked: ${errorText(fault)}`);
}

export async function* bytesOf(entry: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of entry) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('expected bytes of an entry');
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
}
