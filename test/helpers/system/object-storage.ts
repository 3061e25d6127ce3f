import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startS3 } from '../s3.ts';
import type { Cleanups } from './cleanups.ts';

export interface ObjectStorage {
  url: string;
  /** Environment variables of the S3 client. */
  variables: Readonly<Record<string, string>>;
}

export function fileStorage(folder: string): ObjectStorage {
  return { url: pathToFileURL(join(folder, 'objects')).href, variables: {} };
}

/** A real S3 server. */
export async function startS3Storage(cleanups: Cleanups): Promise<ObjectStorage> {
  const { url, credentials, stop } = await startS3();
  cleanups.add(stop);
  const { accessKeyId, secretAccessKey } = credentials;
  return { url, variables: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } };
}
