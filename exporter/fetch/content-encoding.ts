import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, createBrotliDecompress, createGunzip, createInflate, gunzip, inflate } from 'node:zlib';
import { errorCode, errorMessage } from './error-code.ts';

/** Thrown when a body can't be decoded, or would exceed its limit. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
}

/** The encodings that we request and decode. */
export const ACCEPT_ENCODING = 'gzip, br, deflate';

const MAX_LAYERS = 2;

type Coding = 'gzip' | 'deflate' | 'br';

/** The codings of a `Content-Encoding` header in the order they were applied. Throws on an unknown one. */
export function readContentEncoding(header: string | undefined): readonly Coding[] {
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
export function decodingStreams(codings: readonly Coding[]): Transform[] {
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
  if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') return `the decoded body is larger than ${maxBytes} bytes`;
  return `the body can't be decoded: ${errorMessage(error)}`;
}
