import type { ObjectStore as ExportObjects } from '../../exporter/ports.ts';

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
 * Where bytes are kept: bundles, reports and what a crawl collects. Keys are as `assertObjectKey` allows them; a key is
 * never also the folder of another.
 */
export type ObjectStore = ExportObjects & {
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
