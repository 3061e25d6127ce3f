import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { largeObjectKey } from '../object-keys.ts';
import type { ObjectStore } from '../ports.ts';

export type LargeBody = { objectKey: string; byteLength: number; sha256: string };

/** Streams a body that is too large for memory into its own object. */
export async function storeLarge(
  objects: ObjectStore,
  {
    jobId,
    body,
    contentType,
    onStored,
  }: {
    jobId: string;
    body: AsyncIterable<Buffer>;
    contentType: string;
    /** Called with the length so far; if it throws, storing stops. */
    onStored: (bytes: number) => void;
  },
): Promise<LargeBody> {
  const hash = createHash('sha256');
  let byteLength = 0;
  const counted = async function* () {
    for await (const chunk of body) {
      hash.update(chunk);
      byteLength += chunk.length;
      onStored(byteLength);
      yield chunk;
    }
  };
  const objectKey = largeObjectKey(jobId, randomUUID());
  await objects.put(objectKey, Readable.from(counted()), { contentType });
  return { objectKey, byteLength, sha256: hash.digest('hex') };
}
