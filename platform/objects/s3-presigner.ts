import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { assertObjectKey, type Link, type LinkOptions } from './object-store.ts';

/** The limit of signature version 4 is seven days. */
const MAX_TTL_MS = 7 * 86_400_000;

/**
 * Signs GET links on a bucket. A link signed with temporary credentials expires with them, so `expiresAt` is never
 * later. It is in whole seconds, like the signature.
 */
export function createS3Presigner({ bucket, client, now }: { bucket: string; client: S3Client; now: () => number }) {
  return {
    maxLinkTtlMs: MAX_TTL_MS,

    async presign(key: string, { ttlMs, fileName }: LinkOptions): Promise<Link> {
      assertObjectKey(key);
      if (ttlMs > MAX_TTL_MS) throw new RangeError('A link on S3 lives at most 7d');
      const { expiration } = await client.config.credentials();
      const signedAtMs = Math.floor(now() / 1000) * 1000;
      const lifetimeMs = Math.min(ttlMs, (expiration?.getTime() ?? Number.POSITIVE_INFINITY) - signedAtMs);
      if (lifetimeMs <= 0) throw new Error('The S3 credentials have expired');
      const seconds = Math.max(Math.floor(lifetimeMs / 1000), 1);
      const disposition = fileName && `attachment; filename="${fileName.replace(/[^A-Za-z0-9._-]/g, '_')}"`;
      const command = new GetObjectCommand({ Bucket: bucket, Key: key, ResponseContentDisposition: disposition });
      const url = await getSignedUrl(client, command, { expiresIn: seconds, signingDate: new Date(signedAtMs) });
      return { url, expiresAt: new Date(signedAtMs + seconds * 1000) };
    },

    close: () => client.destroy(),
  };
}
