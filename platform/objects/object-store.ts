import type { Readable } from 'node:stream';

/** A part of an object, in bytes: both ends inclusive, as in HTTP; without `end` to the object's last byte. */
export type ByteRange = { start: number; end?: number };

export type ObjectInfo = { sizeBytes: number; modifiedAt: Date };

/** A link that anyone may follow until `expiresAt`. */
export type Link = {
  /** Absolute, or relative to the platform's public address where the platform serves the object itself. */
  url: string;
  expiresAt: Date;
};

export type LinkOptions = {
  /** How long the link shall live; it may live shorter where the store's own credentials end sooner. */
  ttlMs: number;
  /** The name a browser saves the object under. */
  fileName?: string;
};

/**
 * Where bytes are kept: bundles, reports and what a crawl collects. A `put` is all or nothing, and the last one to
 * end wins. Keys are as `assertObjectKey` allows them; a key is never also the folder of another.
 */
export type ObjectStore = {
  /** Stores an object whole. Give `sizeBytes` for a stream where it is known. Throws when the source fails. */
  put(
    key: string,
    source: Uint8Array | Readable,
    options: { contentType: string; sizeBytes?: number },
  ): Promise<{ sizeBytes: number }>;
  /** Streams an object or a part of it. Throws `ObjectMissingError`. */
  get(key: string, range?: ByteRange): Promise<Readable>;
  /** Reads an object or a part of it into memory. Throws `ObjectMissingError`. */
  read(key: string, range?: ByteRange): Promise<Buffer>;
  /** Size and time of an object; null where there is none. */
  head(key: string): Promise<ObjectInfo | null>;
  /** Deletes objects; one that isn't there is no error. */
  delete(keys: readonly string[]): Promise<void>;
  /**
   * Drops what is left of `put`s that never ended, because their process died: of keys that begin with `prefix`, and
   * where told begun before `begunBefore`. One that is still under way fails. A store may leave some of it for a day.
   */
  dropUnfinished(options: { prefix: string; begunBefore?: Date | undefined }): Promise<void>;
  /** The keys that begin with `prefix`, in code unit order. */
  list(prefix: string): AsyncIterable<string>;
  /** A signed link for reading. It asks nobody, so it doesn't tell whether the object is there. */
  presign(key: string, options: LinkOptions): Promise<Link>;
  /** The longest lifetime a link of this store can have; null: any. */
  readonly maxLinkTtlMs: number | null;
  /** Checks links that lead to the platform itself; null where they lead elsewhere. */
  readonly links: LinkVerifier | null;
  /** Ends what the store holds open. */
  close(): Promise<void>;
};

export type LinkVerifier = {
  /** The key and file name that a link's path and query stand for; null for a tampered, expired or foreign one. */
  verify(path: string, query: URLSearchParams): Promise<{ key: string; fileName: string | null } | null>;
};

/** Thrown when an object that should be read isn't there. */
export class ObjectMissingError extends Error {
  override readonly name = 'ObjectMissingError';
  readonly key: string;

  constructor(key: string) {
    super(`There is no object ${key}`);
    this.key = key;
  }
}

const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;
const MAX_KEY_CHARACTERS = 512;

/**
 * Throws unless a key is made of letters, digits, `.`, `_`, `-` and `/`, with no segment that is empty or begins with
 * a dot: such a key means the same in a folder, in a bucket and in a link, and never leaves its place.
 */
export function assertObjectKey(key: string): void {
  if (key.length <= MAX_KEY_CHARACTERS && KEY.test(key) && key.split('/').every((part) => part.length <= 200)) return;
  throw new RangeError(`${JSON.stringify(key.slice(0, 100))} is no object key: expected segments of A-Z a-z 0-9 . _ -`);
}

/** What all bundles lie below. */
export const BUNDLES_FOLDER = 'bundles/';

/** The key of a packed bundle: its hash is in every link's path, so a reader that has these bytes can tell. */
export function bundleKey(sha256: string): string {
  return `${BUNDLES_FOLDER}${sha256}/bundle.tar.gz`;
}
