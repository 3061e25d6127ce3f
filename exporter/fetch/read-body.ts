import { pipeline, Readable, Transform, type TransformCallback } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, createBrotliDecompress, createGunzip, createInflate, gunzip, inflate } from 'node:zlib';
import { errorMessage, fetchErrorCode } from './error-code.ts';
import type { ResponseBody } from './response-body.ts';

/** Takes a decoded body piece by piece. */
type BodySink = (body: AsyncIterable<Buffer>) => Promise<void>;

export type BodyLimits = {
  /** The largest body kept in memory, decoded. */
  maxBufferedBytes: number;
  /** The largest body accepted, decoded. */
  maxBodyBytes: number;
};

function limitBytes(maxBytes: number, onDecoded: (bytes: number) => void): Transform {
  let total = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, callback: TransformCallback) {
      total += chunk.length;
      onDecoded(chunk.length);
      if (total > maxBytes) callback(new UnreadableBody(`the body is larger than ${maxBytes} bytes`));
      else callback(null, chunk);
    },
  });
}

/**
 * Reads and decodes a body. Returns it if it is at most `maxBufferedBytes` long; a larger one goes to the sink, and the
 * result is undefined. Throws UnreadableBody if it can't be decoded, exceeds `maxBodyBytes`, or is too large and there
 * is no sink. Memory stays within the limits, encoded and decoded. `onDecoded` gets the number of all decoded bytes,
 * also for a body that breaks off.
 */
export async function readResponseBody(
  body: ResponseBody,
  encoding: string | undefined,
  limits: BodyLimits,
  sink: BodySink | undefined,
  onDecoded: (bytes: number) => void,
): Promise<Buffer | undefined> {
  const codings = readContentEncoding(encoding);

  async function toSink(source: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<undefined> {
    if (sink === undefined) throw new UnreadableBody(`the body is larger than ${limits.maxBufferedBytes} bytes`);
    const decoded = limitBytes(limits.maxBodyBytes, onDecoded);
    // The callback does nothing: a failure destroys `decoded`, and the sink that reads it gets the error.
    pipeline([Readable.from(source), ...decodingStreams(codings), decoded], () => undefined);
    await sink(decoded);
    return undefined;
  }

  const wire = await body.whole();
  if (wire === undefined) return toSink(body.pieces());
  if (codings.length === 0) {
    onDecoded(wire.length);
    return wire;
  }
  try {
    const decoded = await decodeBody(wire, codings, limits.maxBufferedBytes);
    onDecoded(decoded.length);
    return decoded;
  } catch (error) {
    if (sink === undefined || fetchErrorCode(error) !== 'ERR_BUFFER_TOO_LARGE') throw error;
    return toSink([wire]);
  }
}

/** Thrown when a body can't be decoded, or would exceed its limit. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
}

/** The encodings that we request and decode. */
export const ACCEPT_ENCODING = 'gzip, br, deflate';

const MAX_LAYERS = 2;

type Coding = 'gzip' | 'deflate' | 'br';

/** The codings of a `Content-Encoding` header in the order they were applied. Throws on an unknown one. */
function readContentEncoding(header: string | undefined): readonly Coding[] {
  const codings = (header ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
    .map((name): Coding => {
      if (name === 'gzip' || name === 'x-gzip') return 'gzip';
      if (name === 'deflate' || name === 'br') return name;
      throw new UnreadableBody(`unknown content encoding ${name}`);
    });
  if (codings.length > MAX_LAYERS) throw new UnreadableBody('too many content encodings');
  return codings;
}

const decodeWhole = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) } as const;

const decoders: Readonly<Record<Coding, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Streams that decode the codings, in the order to pipe the body through. */
function decodingStreams(codings: readonly Coding[]): Transform[] {
  return codings.toReversed().map((coding) => decoders[coding]());
}

/** Decodes a complete body; never holds more than `maxBytes` of it. */
export async function decodeBody(body: Buffer, codings: readonly Coding[], maxBytes: number): Promise<Buffer> {
  let bytes = body;
  for (const coding of codings.toReversed()) {
    try {
      bytes = await decodeWhole[coding](bytes, { maxOutputLength: maxBytes });
    } catch (error) {
      throw new UnreadableBody(reasonOf(error, maxBytes), { cause: error });
    }
  }
  return bytes;
}

function reasonOf(error: unknown, maxBytes: number): string {
  if (fetchErrorCode(error) === 'ERR_BUFFER_TOO_LARGE') return `the decoded body is larger than ${maxBytes} bytes`;
  return `the body can't be decoded: ${errorMessage(error)}`;
}
