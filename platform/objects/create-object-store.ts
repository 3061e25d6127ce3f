import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { createFileStore } from './file-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { S3Location } from './s3-store.ts';

type ObjectStoreOptions = {
  /** `file:///folder`, or `s3://bucket?endpoint=…&region=…&publicEndpoint=…&pathStyle=true|false`. */
  url: string;
  /** The clock for signing and checking links, in epoch milliseconds. */
  now?: () => number;
};

const endpoint = z.url({ protocol: /^https?$/, error: 'expected an http(s) URL' });

const s3Parameters = z.strictObject({
  endpoint: endpoint.optional(),
  publicEndpoint: endpoint.optional(),
  region: z.string().min(1).optional(),
  pathStyle: z.enum(['true', 'false']).optional(),
});

const bucketName = z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/);

/** Opens the store of a URL. Throws a `RangeError` that says what was expected. */
export async function createObjectStore({ url, now = Date.now }: ObjectStoreOptions): Promise<ObjectStore> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'file:' && parsed.host === '' && parsed.search === '' && parsed.hash === '') {
    return createFileStore({ folder: fileURLToPath(parsed), now });
  }
  if (parsed?.protocol === 's3:') {
    const location = s3Location(parsed);
    // AWS's SDK has many modules, which a program with another store never loads.
    const { createS3Store } = await import('./s3-store.ts');
    return createS3Store({ location, now });
  }
  throw new RangeError('The object store URL is wrong: expected file:///folder or s3://bucket?endpoint=…&region=…');
}

function s3Location(url: URL): S3Location {
  if (url.username !== '' || url.password !== '') {
    throw new RangeError(
      'The object store URL must hold no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  }
  if (!bucketName.safeParse(url.host).success || !['', '/'].includes(url.pathname) || url.hash !== '') {
    throw new RangeError('The object store URL is wrong: expected s3://bucket with no path');
  }
  const parsed = s3Parameters.safeParse(Object.fromEntries(url.searchParams));
  if (!parsed.success) {
    throw new RangeError(`The object store URL is wrong: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`);
  }
  const { pathStyle, ...given } = parsed.data;
  return {
    bucket: url.host,
    ...(given.endpoint !== undefined && { endpoint: given.endpoint }),
    ...(given.publicEndpoint !== undefined && { publicEndpoint: given.publicEndpoint }),
    // AWS needs the right region; other servers take any that is the same on both sides.
    ...(given.region !== undefined
      ? { region: given.region }
      : given.endpoint !== undefined && { region: 'us-east-1' }),
    pathStyle: pathStyle === undefined ? given.endpoint !== undefined : pathStyle === 'true',
  };
}
