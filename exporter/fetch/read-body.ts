import { pipeline, Readable, Transform, type TransformCallback } from 'node:stream';
import { type Coding, decodeBody, decodePieces, UnreadableBody } from './content-coding.ts';
import { fetchErrorCode } from './error-code.ts';
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
  codings: readonly Coding[],
  limits: BodyLimits,
  sink: BodySink | undefined,
  onDecoded: (bytes: number) => void,
): Promise<Buffer | undefined> {
  async function toSink(source: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<undefined> {
    if (sink === undefined) throw new UnreadableBody(`the body is larger than ${limits.maxBufferedBytes} bytes`);
    const decoded = limitBytes(limits.maxBodyBytes, onDecoded);
    // The callback does nothing: a failure destroys `decoded`, and the sink that reads it gets the error.
    pipeline([Readable.from(decodePieces(source, codings)), decoded], () => undefined);
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
