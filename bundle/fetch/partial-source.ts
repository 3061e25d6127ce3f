import { Readable } from 'node:stream';
import { HEAD_LENGTH_BYTES, readHeadLength } from '../../contract/bundle-head.ts';
import { BundleUnavailableError, reason } from '../errors.ts';
import { type Head, MAX_MANIFEST_BYTES, readBundleHead } from '../read-bundle.ts';
import { type BundleResponse, openHttp } from './http-source.ts';
import { linkLabel } from './link.ts';

/** The first request: a small site's head, and enough to learn the size of a large one's. */
const FIRST_BYTES = 16 * 1024;

/** An archive that can be read in parts. */
export type PartialSource = {
  head: Head;
  /** Where the members of files begin in the archive. */
  headBytes: number;
  archiveBytes: number;
  etag: string | undefined;
  /**
   * The archive's bytes from `start` to `end`, excluded.
   * @throws BundleUnavailableError if the link fails, or no longer offers ranges of these bytes
   */
  read(start: number, end: number): Promise<AsyncIterable<Buffer>>;
};

/** `whole`: the link offers no ranges, and this is its response to a plain request. */
type OpenedSource =
  | { kind: 'unchanged' }
  | { kind: 'whole'; response: BundleResponse | undefined }
  | { kind: 'partial'; source: PartialSource };

/**
 * Reads an archive's head from a link with range requests.
 * @param etag of the bytes on the disk from this resource; a response that matches it is `unchanged`
 */
export async function openPartialSource(
  link: URL,
  etag: string | undefined,
  { signal, maxSizeBytes }: { signal: AbortSignal; maxSizeBytes: number },
): Promise<OpenedSource> {
  const condition: Record<string, string> = etag === undefined ? {} : { 'if-none-match': etag };
  const response = await openHttp(link, { ...condition, range: `bytes=0-${FIRST_BYTES - 1}` }, signal);
  if (response.status === 304 && etag !== undefined) {
    await response.body.dump();
    return { kind: 'unchanged' };
  }
  if (response.status === 200) return { kind: 'whole', response };
  const range = rangeOf(response, 0);
  if (range === undefined || range.totalBytes > maxSizeBytes || range.end > FIRST_BYTES) return await giveUp(response);
  const archiveBytes = range.totalBytes;
  const first = await collect(withFaults(link, response.body, range.end));
  const headBytes = readHeadLength(first.subarray(0, HEAD_LENGTH_BYTES));
  // An archive that doesn't say, or none.
  if (headBytes === undefined || headBytes > Math.min(archiveBytes, MAX_MANIFEST_BYTES)) {
    return { kind: 'whole', response: undefined };
  }
  const receivedEtag = response.header('etag');
  const strongEtag = receivedEtag?.startsWith('"') === true ? receivedEtag : undefined;
  const read = readerOf(link, strongEtag, signal);
  const parts = [first.subarray(0, headBytes)];
  if (headBytes > first.length) parts.push(await collect(await read(first.length, headBytes)));
  const head = await readBundleHead(Readable.from([Buffer.concat(parts)]));
  return { kind: 'partial', source: { head, headBytes, archiveBytes, etag: strongEtag, read } };
}

async function giveUp(response: BundleResponse): Promise<OpenedSource> {
  await response.body.dump();
  return { kind: 'whole', response: undefined };
}

function readerOf(link: URL, etag: string | undefined, signal: AbortSignal): PartialSource['read'] {
  // With If-Range, a server whose object was replaced meanwhile sends the new one whole.
  const condition: Record<string, string> = etag === undefined ? {} : { 'if-range': etag };
  return async (start, end) => {
    const response = await openHttp(link, { ...condition, range: `bytes=${start}-${end - 1}` }, signal);
    if (response.status === 206 && rangeOf(response, start)?.end === end)
      return withFaults(link, response.body, end - start);
    // Destroyed rather than read to its end: it may be the whole archive.
    response.body.destroy();
    throw new BundleUnavailableError(`${linkLabel(link)} no longer sends parts of the archive`, 'soon');
  };
}

function rangeOf({ header }: BundleResponse, start: number): { end: number; totalBytes: number } | undefined {
  const [, from, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header('content-range') ?? '') ?? [];
  if (from === undefined || Number(from) !== start) return undefined;
  return { end: Number(last) + 1, totalBytes: Number(total) };
}

/** Stops if a server sends more than the requested part, which could fill the memory. */
async function* withFaults(link: URL, body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let receivedBytes = 0;
  try {
    for await (const chunk of body) {
      receivedBytes += chunk.length;
      if (receivedBytes > maxBytes) throw new Error('it sends more than the requested part');
      yield chunk;
    }
  } catch (error) {
    throw new BundleUnavailableError(`the download from ${linkLabel(link)} broke off (${reason(error)})`, 'soon');
  }
}

async function collect(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
