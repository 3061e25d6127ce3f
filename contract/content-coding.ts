/** Content codings that a bundle may hold files in, by their names in HTTP, with the extensions of such files. */
export const CODING_EXTENSIONS = { br: '.br', gzip: '.gz', zstd: '.zst' } as const;

export const CONTENT_CODINGS = ['br', 'gzip', 'zstd'] as const;
export type ContentCoding = (typeof CONTENT_CODINGS)[number];
