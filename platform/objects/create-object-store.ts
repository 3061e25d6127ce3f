import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFileStore } from './file-store.ts';
import type { ObjectStore } from './object-store.ts';

export type ObjectStoreOptions = {
  /** `file:///folder`, or `s3://bucket?endpoint=…&region=…&publicEndpoint=…&pathStyle=true|false`. */
  url: string;
  /** The clock that links are signed and checked by, in epoch milliseconds. */
  now?: () => number;
};

/** Opens the store a URL names. Throws a `RangeError` that says what was expected where it names none. */
export async function createObjectStore({ url, now = Date.now }: ObjectStoreOptions): Promise<ObjectStore> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'file:' && parsed.host === '' && parsed.search === '') {
    const folder = fileURLToPath(parsed);
    if (isAbsolute(folder)) return createFileStore({ folder, now });
  }
  throw new RangeError('The object store URL is none: expected file:///folder or s3://bucket?endpoint=…&region=…');
}
