import type { ExportObjects } from '../../exporter/ports.ts';

/** A link that anyone can use until `expiresAt`. */
export type Link = {
  /** Absolute, or relative to the platform's public URL if the platform serves the object itself. */
  url: string;
  expiresAt: Date;
};

export type LinkOptions = {
  /** The requested lifetime; shorter if the store's own credentials expire sooner. */
  ttlMs: number;
  /** The file name for a browser's download. */
  fileName?: string;
};

/**
 * Where bytes are kept: bundles, reports and what a crawl collects. Keys are as `assertObjectKey` allows them; a key is
 * never also the folder of another.
 */
export type ObjectStore = ExportObjects & {
  /** Deletes objects; one that isn't there is no error. */
  delete(keys: readonly string[]): Promise<void>;
  /**
   * Unfinished `put`s of keys with the prefix, which dead processes left, optionally only those begun before
   * `begunBefore`. A store may hide some of them for a day.
   */
  unfinished(options: { prefix: string; begunBefore?: Date | undefined }): AsyncIterable<Unfinished>;
  /** The keys with the prefix, in code unit order. */
  list(prefix: string): AsyncIterable<string>;
  /** A signed link for reading. Sends no request, so it doesn't show whether the object exists. */
  presign(key: string, options: LinkOptions): Promise<Link>;
  /** The longest lifetime of this store's links; null: any. */
  readonly maxLinkTtlMs: number | null;
  /** Checks links to the platform itself; null if links point elsewhere. */
  readonly links: LinkVerifier | null;
  /** Closes the store's connections. */
  close(): Promise<void>;
};

export type Unfinished = {
  /** Unique in the store. */
  name: string;
  sizeBytes(): Promise<number>;
  /** Deletes it. If it is still running, it fails. */
  drop(): Promise<void>;
};

export type LinkVerifier = {
  /** The key and file name of a link's path and query; null for a tampered, expired or foreign one. */
  verify(path: string, query: URLSearchParams): Promise<{ key: string; fileName: string | null } | null>;
};

const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;
const MAX_KEY_CHARACTERS = 512;

/**
 * Throws unless a key consists of letters, digits, `.`, `_`, `-` and `/`, without segments that are empty or begin with
 * a dot: such a key means the same in a folder, a bucket and a link, and can't escape.
 */
export function assertObjectKey(key: string): void {
  if (key.length <= MAX_KEY_CHARACTERS && KEY.test(key) && key.split('/').every((part) => part.length <= 200)) return;
  throw new RangeError(`${JSON.stringify(key.slice(0, 100))} is no object key: expected segments of A-Z a-z 0-9 . _ -`);
}
