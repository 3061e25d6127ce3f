import { pipeline, Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { errorMessage, fetchErrorCode } from './error-code.ts';
import { peek } from './peek.ts';

/** Thrown when a body can't be decoded, or would exceed its limit. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
}

/** The codings that we request. */
export const ACCEPT_ENCODING = 'gzip, br, deflate';

/** No browser sees more. A chain of codings could unpack to any size. */
const MAX_LAYERS = 5;

export type Coding = 'gzip' | 'deflate' | 'br';

const CODINGS: readonly Coding[] = ['gzip', 'deflate', 'br'];
/** Codings of RFCs that no origin may send, because we don't request them. The bytes would be of no use. */
const UNREQUESTED = /^(?:(?:x-)?compress|zstd|dcb|dcz|exi|pack200-gzip)$/;

/**
 * The codings that `Content-Encoding` headers name, in the order they were applied. Ignores unknown ones, such as the
 * charset or `aws-chunked`, which say nothing about the bytes.
 */
export function readContentEncoding(lines: readonly string[]): readonly Coding[] {
  const names = lines.join().toLowerCase().split(',');
  const codings = names.flatMap((text) => {
    const name = text.trim();
    if (UNREQUESTED.test(name)) throw new UnreadableBody(`the body has the content encoding ${name}`);
    return CODINGS.find((coding) => name === coding || name === `x-${coding}`) ?? [];
  });
  if (codings.length > MAX_LAYERS) throw new UnreadableBody('too many content encodings');
  return codings;
}

type Limit = { maxOutputLength: number };

/** Decodes a complete body as browsers do; never holds more than `maxBytes` of it. Throws UnreadableBody. */
export async function decodeBody(body: Buffer, codings: readonly Coding[], maxBytes: number): Promise<Buffer> {
  let bytes = body;
  for (const coding of codings.toReversed()) {
    // Some servers name a coding of nothing.
    if (bytes.length === 0) break;
    try {
      bytes = await decodeWhole[coding](bytes, { maxOutputLength: maxBytes });
    } catch (error) {
      throw new UnreadableBody(reasonOf(error, maxBytes), { cause: error });
    }
  }
  return bytes;
}

const inflateRaw = promisify(zlib.inflateRaw);

const decodeWhole: Readonly<Record<Coding, (bytes: Buffer, limit: Limit) => Promise<Buffer>>> = {
  gzip: (bytes, limit) =>
    promisify(zlib.gunzip)(bytes, limit).catch((error: unknown) => decodeFirstMember(bytes, limit, error)),
  deflate: (bytes, limit) => (isZlib(bytes) ? promisify(zlib.inflate)(bytes, limit) : inflateRaw(bytes, limit)),
  br: promisify(zlib.brotliDecompress),
};

/** `deflate` is the zlib format by the RFC, but some servers send the bare stream, which has no such header. */
function isZlib([first = 0, second = 0]: Buffer): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

/**
 * Browsers ignore what follows a gzip member, and a checksum that is wrong or missing. Throws `error` if this is
 * another problem: something follows that is a member itself, or the member isn't whole.
 */
async function decodeFirstMember(bytes: Buffer, limit: Limit, error: unknown): Promise<Buffer> {
  const start = memberStart(bytes);
  if (start === undefined || fetchErrorCode(error) === 'ERR_BUFFER_TOO_LARGE') throw error;
  const { buffer, size } = await inflateWithSize(bytes.subarray(start), limit).catch(() => {
    throw error;
  });
  if (memberStart(bytes.subarray(start + size + CHECKSUM_BYTES)) !== undefined) throw error;
  return buffer;
}

/** What follows the data of a gzip member: its checksum and length. */
const CHECKSUM_BYTES = 8;

/** Where the data of a gzip member begins (RFC 1952, 2.3); undefined if this is none. */
function memberStart(bytes: Buffer): number | undefined {
  if (bytes.length < 10 || bytes.readUInt16BE(0) !== 0x1f_8b || bytes[2] !== 8) return undefined;
  const flags = bytes[3] ?? 0;
  let start = 10;
  if ((flags & 4) !== 0) start += 2 + (start + 2 <= bytes.length ? bytes.readUInt16LE(start) : 0);
  // The file's name and a comment end with a zero byte.
  for (const flag of [8, 16]) {
    if ((flags & flag) !== 0) start = bytes.indexOf(0, start) + 1 || bytes.length;
  }
  if ((flags & 2) !== 0) start += 2;
  return start < bytes.length ? start : undefined;
}

/** `size`: how many of the bytes belong to the stream. */
function inflateWithSize(bytes: Buffer, limit: Limit): Promise<{ buffer: Buffer; size: number }> {
  return new Promise((resolve, reject) => {
    // `info` makes the result an object with the engine, which the types don't know.
    const options = { ...limit, info: true };
    zlib.inflateRaw(bytes, options, (error, result: unknown) => {
      if (error !== null) reject(error);
      else resolve(readInfo(result));
    });
  });
}

function readInfo(result: unknown): { buffer: Buffer; size: number } {
  if (typeof result === 'object' && result !== null && 'buffer' in result && 'engine' in result) {
    const { buffer, engine } = result;
    if (Buffer.isBuffer(buffer) && engine instanceof zlib.InflateRaw) return { buffer, size: engine.bytesWritten };
  }
  throw new TypeError('expected a buffer and its engine');
}

/** Decodes a body piece by piece. Throws UnreadableBody if it can't be decoded, and the errors of the source. */
export function decodePieces(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
  codings: readonly Coding[],
): AsyncIterable<Buffer> | Iterable<Buffer> {
  return codings.toReversed().reduce<AsyncIterable<Buffer> | Iterable<Buffer>>(decodeOne, source);
}

async function* decodeOne(source: AsyncIterable<Buffer> | Iterable<Buffer>, coding: Coding): AsyncGenerator<Buffer> {
  const { first, all } = await peek(Readable.from(source));
  const stream = coding === 'deflate' && !isZlib(first) ? zlib.createInflateRaw() : createDecoder[coding]();
  // The callback does nothing: a failure destroys the stream, and its reader gets the error.
  pipeline(Readable.from(all), stream, () => undefined);
  try {
    for await (const chunk of stream) if (Buffer.isBuffer(chunk)) yield chunk;
  } catch (error) {
    if (!DECODING_ERROR.test(fetchErrorCode(error) ?? '')) throw error;
    throw new UnreadableBody(reasonOf(error, 0), { cause: error });
  }
}

const createDecoder: Readonly<Record<Coding, () => Transform>> = {
  gzip: zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
};

/** The codes of zlib's and brotli's own errors. */
const DECODING_ERROR = /^(?:Z_|ERR_(?:_|BROTLI|ZLIB))/;

function reasonOf(error: unknown, maxBytes: number): string {
  if (fetchErrorCode(error) === 'ERR_BUFFER_TOO_LARGE') return `the decoded body is larger than ${maxBytes} bytes`;
  return `the body can't be decoded: ${errorMessage(error)}`;
}
