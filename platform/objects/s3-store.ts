import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { ObjectMissingError } from '../../exporter/export-failure.ts';
import type { ByteRange } from '../../exporter/ports.ts';
import { checkSize } from './check-size.ts';
import { assertObjectKey, type Link, type LinkOptions, type ObjectStore, type Unfinished } from './object-store.ts';

export type S3Location = {
  bucket: string;
  /** A server other than AWS, such as `http://127.0.0.1:7070`. */
  endpoint?: string;
  /** The endpoint in links, if readers reach the server at another URL than the platform. */
  publicEndpoint?: string;
  /** Default: the standard AWS configuration. */
  region?: string;
  /** Bucket in the path instead of the host name. */
  pathStyle: boolean;
};

/** The limit of a DeleteObjects call. */
const DELETE_BATCH = 1000;

/** Part size of uploads: S3 allows 10,000 parts, so 80 GiB per object. */
const PART_SIZE_BYTES = 8 * 1024 * 1024;

/** Objects in one bucket of any S3 server. Credentials come from the standard AWS chain. */
export function createS3Store({ location, now }: { location: S3Location; now: () => number }): ObjectStore {
  const { bucket: Bucket } = location;
  const client = new S3Client(clientConfig(location, location.endpoint));
  const bucketed = { client, Bucket };
  const presigner = createS3Presigner({
    bucket: Bucket,
    client: new S3Client(clientConfig(location, location.publicEndpoint ?? location.endpoint)),
    now,
  });

  return {
    async put(key, source, { contentType, sizeBytes }) {
      assertObjectKey(key);
      const target = { Bucket, Key: key, ContentType: contentType };
      if (source instanceof Uint8Array) {
        await client.send(new PutObjectCommand({ ...target, Body: source, ContentLength: source.byteLength }));
        return { sizeBytes: source.byteLength };
      }
      const measured = checkSize(source, { key, sizeBytes });
      const params = { ...target, Body: Readable.from(measured.chunks) };
      await new Upload({ client, params, partSize: PART_SIZE_BYTES, queueSize: 2 }).done();
      return { sizeBytes: measured.sizeBytes() };
    },

    async get(key, range) {
      const body = await open(bucketed, key, range);
      return body instanceof Readable ? body : Readable.from([]);
    },

    async read(key, range) {
      const body = await open(bucketed, key, range);
      return Buffer.from((await body?.transformToByteArray()) ?? []);
    },

    async head(key) {
      assertObjectKey(key);
      try {
        const { ContentLength = 0, LastModified } = await client.send(new HeadObjectCommand({ Bucket, Key: key }));
        return { sizeBytes: ContentLength, modifiedAt: LastModified ?? new Date(0) };
      } catch (error) {
        if (hasStatus(error, 404)) return null;
        throw error;
      }
    },

    delete: (keys) => deleteObjects(bucketed, keys),
    unfinished: (uploads) => unfinishedUploads(bucketed, uploads),

    async *list(prefix) {
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken }));
        for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
        ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (ContinuationToken !== undefined);
    },

    presign: (key, options) => presigner.presign(key, options),
    maxLinkTtlMs: presigner.maxLinkTtlMs,
    links: null,

    async close() {
      client.destroy();
      presigner.close();
    },
  };
}

type Bucketed = { client: S3Client; Bucket: string };

/** The object's body; null if the range begins after its end. */
async function open(
  { client, Bucket }: Bucketed,
  key: string,
  range?: ByteRange,
): Promise<GetObjectCommandOutput['Body'] | null> {
  assertObjectKey(key);
  const Range = range && `bytes=${range.start}-${range.end ?? ''}`;
  try {
    return (await client.send(new GetObjectCommand({ Bucket, Key: key, Range }))).Body;
  } catch (error) {
    if (hasStatus(error, 404)) throw new ObjectMissingError(key);
    if (range && hasStatus(error, 416)) return null;
    throw error;
  }
}

async function deleteObjects({ client, Bucket }: Bucketed, keys: readonly string[]): Promise<void> {
  for (const key of keys) assertObjectKey(key);
  for (let start = 0; start < keys.length; start += DELETE_BATCH) {
    const Objects = keys.slice(start, start + DELETE_BATCH).map((Key) => ({ Key }));
    const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
    const [first] = Errors.filter((each) => each.Code !== 'NoSuchKey');
    if (first) throw new Error(`${first.Key} was not deleted: ${first.Code} ${first.Message}`);
  }
}

async function* unfinishedUploads(
  bucketed: Bucketed,
  { prefix, begunBefore }: { prefix: string; begunBefore?: Date | undefined },
): AsyncGenerator<Unfinished> {
  const { client, Bucket } = bucketed;
  for (let page: ListMultipartUploadsCommandOutput | undefined; page === undefined || page.IsTruncated; ) {
    const after = { KeyMarker: page?.NextKeyMarker, UploadIdMarker: page?.NextUploadIdMarker };
    page = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: prefix, ...after }));
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Key === undefined || !Key.startsWith(prefix) || (begunBefore && Initiated && Initiated >= begunBefore))
        continue;
      const upload = { Bucket, Key, UploadId };
      yield {
        name: `${Key} (${UploadId})`,
        sizeBytes: () => sizeOfParts(bucketed, upload),
        drop: async () => {
          await unlessEnded(client.send(new AbortMultipartUploadCommand(upload)));
        },
      };
    }
  }
}

type MultipartUpload = { Bucket: string; Key: string; UploadId: string | undefined };

async function sizeOfParts({ client }: Pick<Bucketed, 'client'>, upload: MultipartUpload): Promise<number> {
  let sizeBytes = 0;
  for (let PartNumberMarker: string | undefined; ; ) {
    const page = await unlessEnded(client.send(new ListPartsCommand({ ...upload, PartNumberMarker })));
    for (const { Size = 0 } of page?.Parts ?? []) sizeBytes += Size;
    if (!page?.IsTruncated) return sizeBytes;
    PartNumberMarker = page.NextPartNumberMarker;
  }
}

/** An upload may have ended since it was listed. */
async function unlessEnded<Output>(request: Promise<Output>): Promise<Output | undefined> {
  return request.catch((error: unknown) => {
    if (!hasStatus(error, 404)) throw error;
    return undefined;
  });
}

function clientConfig(location: S3Location, endpoint: string | undefined): S3ClientConfig {
  return {
    ...(endpoint !== undefined && { endpoint }),
    ...(location.region !== undefined && { region: location.region }),
    forcePathStyle: location.pathStyle,
    // Servers other than AWS often don't support the newer checksums; TLS and Galley's own hashes protect the bytes.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 60_000 },
  };
}

function hasStatus(error: unknown, status: number): boolean {
  // A missing bucket is a 404 too, but not a missing object.
  return (
    error instanceof S3ServiceException && error.$metadata.httpStatusCode === status && error.name !== 'NoSuchBucket'
  );
}

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
