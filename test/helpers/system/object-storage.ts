import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startS3 } from '../s3.ts';
import type { Cleanups } from './cleanups.ts';
import { type InterceptingProxy, startInterceptingProxy } from './intercepting-proxy.ts';

export interface ObjectStorage {
  url: string;
  /** What the S3 client needs to know. */
  variables: Readonly<Record<string, string>>;
  /** Between the platform and the S3 server; undefined for files. */
  proxy: InterceptingProxy | undefined;
}

export function fileStorage(folder: string): ObjectStorage {
  return { url: pathToFileURL(join(folder, 'objects')).href, variables: {}, proxy: undefined };
}

/** A real S3 server behind a proxy, so that a test can hold what is written to it. Signatures cover the proxy's host. */
export async function startS3Storage(cleanups: Cleanups): Promise<ObjectStorage> {
  const s3 = await startS3();
  cleanups.add(s3.stop);
  const proxy = await startInterceptingProxy(s3.endpoint);
  cleanups.add(proxy.close);
  const { accessKeyId, secretAccessKey } = s3.credentials;
  return {
    url: s3.url.replace(encodeURIComponent(s3.endpoint), encodeURIComponent(proxy.url)),
    variables: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    proxy,
  };
}
