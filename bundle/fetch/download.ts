import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { errorCode } from '../../base/error-code.ts';
import { BundleInvalidError, BundleUnavailableError, reason } from '../errors.ts';
import { type BundleResponse, openHttp } from './http-source.ts';
import { linkLabel, resourceFingerprint, sha256InLink } from './link.ts';

type DownloadRequest = {
  link: URL;
  /** The ETag of the bytes on the disk from this resource; a response that matches it is `unchanged`. */
  etag: string | undefined;
  /** The folder of unfinished and finished downloads. */
  folder: string;
  maxSizeBytes: number;
  /** A response to a plain request for the link, used unless an earlier download can continue. */
  response?: BundleResponse | undefined;
  signal: AbortSignal;
  onProgress(receivedBytes: number, totalBytes: number | undefined): void;
};

export type Download =
  | { kind: 'unchanged' }
  | { kind: 'fetched'; file: string; sha256: string; sizeBytes: number; etag: string | undefined };

const partNote = z.object({ etag: z.string(), totalBytes: z.int().optional() });

/**
 * Downloads the archive. An interrupted download continues with a range request if the server gave a strong validator;
 * leftovers of other bundles are removed.
 * @throws BundleUnavailableError if it can't be read, BundleInvalidError if it is larger than allowed
 */
export async function downloadBundle(request: DownloadRequest): Promise<Download> {
  const { link, folder } = request;
  const place = await clearFolder(link, folder);
  await mkdir(folder, { recursive: true });
  return link.protocol === 'file:' ? await copyFile(request, place.file) : await fetchFile(request, place);
}

type Place = { file: string; note: string };

/** Removes what is left of downloads of other bundles: it may be what fills the disk. */
async function clearFolder(link: URL, folder: string): Promise<Place> {
  const key = sha256InLink(link) ?? resourceFingerprint(link);
  const names = await readdir(folder).catch((error: unknown): string[] => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) if (!name.startsWith(key)) await rm(join(folder, name), { force: true });
  return { file: join(folder, `${key}.part`), note: join(folder, `${key}.json`) };
}

/** Leaves in the folder only what is of a link's object. Returns whether an earlier download of it can continue. */
export async function prepareDownload(link: URL, folder: string): Promise<boolean> {
  return (await resumable(await clearFolder(link, folder))) !== undefined;
}

async function copyFile(request: DownloadRequest, file: string): Promise<Download> {
  const { link, etag, maxSizeBytes, signal } = request;
  const path = fileURLToPath(link);
  const found = await stat(path).catch((error: unknown) => {
    throw new BundleUnavailableError(`${linkLabel(link)} can't be read (${reason(error)})`, 'soon');
  });
  if (!found.isFile()) throw new BundleUnavailableError(`${linkLabel(link)} is not a file`, 'slowly');
  const foundEtag = `"${found.mtimeMs}-${found.size}"`;
  if (etag === foundEtag) return { kind: 'unchanged' };
  if (found.size > maxSizeBytes) throw tooLarge(maxSizeBytes);
  return await save(request, {
    file,
    body: contentOf(path, signal),
    offset: 0,
    hash: createHash('sha256'),
    totalBytes: found.size,
    etag: foundEtag,
  });
}

/** Opened when it is read: a stream that fails before that ends the process. */
async function* contentOf(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { signal });
}

async function fetchFile(request: DownloadRequest, { file, note }: Place): Promise<Download> {
  const { link, etag, maxSizeBytes, signal } = request;
  const part = await resumable({ file, note });
  const headers: Record<string, string> = {};
  // Stopped after its last byte, before anyone used it.
  const whole = part?.sizeBytes === part?.totalBytes ? part : undefined;
  if (whole !== undefined) headers['if-none-match'] = whole.etag;
  else if (part !== undefined) Object.assign(headers, { range: `bytes=${part.sizeBytes}-`, 'if-range': part.etag });
  else if (etag !== undefined) headers['if-none-match'] = etag;

  if (part !== undefined) request.response?.body.destroy();
  const response =
    part === undefined && request.response !== undefined ? request.response : await openHttp(link, headers, signal);
  if (response.status === 304 && whole !== undefined) {
    await response.body.dump();
    const { sizeBytes, etag } = whole;
    return { kind: 'fetched', file, sha256: (await hashOf(file, signal)).digest('hex'), sizeBytes, etag };
  }
  if (response.status === 304 && etag !== undefined) {
    await response.body.dump();
    return { kind: 'unchanged' };
  }
  const receivedEtag = strong(response.header('etag'));
  const resumed =
    response.status === 206 && part !== undefined && continues(response.header('content-range'), part.sizeBytes);
  if (response.status !== 200 && !resumed) {
    await response.body.dump();
    await rm(file, { force: true });
    throw new BundleUnavailableError(
      `${linkLabel(link)} answered ${response.status} out of turn`,
      'soon',
      response.status,
    );
  }
  const offset = resumed ? part.sizeBytes : 0;
  const length = Number(response.header('content-length') ?? Number.NaN);
  const totalBytes = Number.isSafeInteger(length) ? offset + length : undefined;
  if (totalBytes !== undefined && totalBytes > maxSizeBytes) {
    response.body.dump().catch(() => undefined);
    throw tooLarge(maxSizeBytes);
  }
  const hash = resumed ? await hashOf(file, signal) : createHash('sha256');
  await rm(note, { force: true });
  if (!resumed) await rm(file, { force: true });
  if (receivedEtag !== undefined) await writeFile(note, JSON.stringify({ etag: receivedEtag, totalBytes }));
  return await save(request, { file, body: response.body, offset, hash, totalBytes, etag: receivedEtag });
}

type Incoming = {
  file: string;
  body: AsyncIterable<Buffer>;
  offset: number;
  hash: Hash;
  totalBytes: number | undefined;
  etag: string | undefined;
};

async function save(request: DownloadRequest, incoming: Incoming): Promise<Download> {
  const { file, body, offset, hash, totalBytes, etag } = incoming;
  const handle = await open(file, offset === 0 ? 'w' : 'a');
  let sizeBytes = offset;
  try {
    for await (const chunk of body) {
      sizeBytes += chunk.length;
      if (sizeBytes > request.maxSizeBytes) throw tooLarge(request.maxSizeBytes);
      hash.update(chunk);
      await writeAll(handle, chunk);
      request.onProgress(sizeBytes, totalBytes);
    }
  } catch (error) {
    // Continued, it would be too large again; until then it would take the space that a smaller bundle needs.
    if (error instanceof BundleInvalidError || isDiskFull(error)) await rm(file, { force: true });
    if (error instanceof BundleInvalidError) throw error;
    throw new BundleUnavailableError(
      `the download from ${linkLabel(request.link)} broke off (${reason(error)})`,
      'soon',
    );
  } finally {
    await handle.close();
  }
  return { kind: 'fetched', file, sha256: hash.digest('hex'), sizeBytes, etag };
}

function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');
}

async function hashOf(file: string, signal: AbortSignal): Promise<Hash> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { signal })) hash.update(chunk);
  return hash;
}

async function writeAll(handle: FileHandle, chunk: Buffer): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await handle.write(chunk, written)).bytesWritten;
  }
}

type Part = z.infer<typeof partNote> & { sizeBytes: number };

async function resumable({ file, note }: Place): Promise<Part | undefined> {
  try {
    const { etag, totalBytes } = partNote.parse(JSON.parse(await readFile(note, 'utf8')));
    const { size } = await stat(file);
    return size > 0 ? { sizeBytes: size, etag, totalBytes } : undefined;
  } catch {
    return undefined;
  }
}

/** Weak validators don't promise equal bytes, so they neither resume a download nor save one. */
function strong(etag: string | undefined): string | undefined {
  return etag?.startsWith('"') === true ? etag : undefined;
}

function continues(contentRange: string | undefined, offset: number): boolean {
  return contentRange?.startsWith(`bytes ${offset}-`) === true;
}

function tooLarge(maxSizeBytes: number): BundleInvalidError {
  return new BundleInvalidError(`the archive is larger than the ${maxSizeBytes} bytes allowed`);
}
