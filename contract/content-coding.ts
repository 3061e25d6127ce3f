/** Content codings that a bundle may contain, by their HTTP names, with their file extensions. */
export const CODING_EXTENSIONS = { br: '.br', gzip: '.gz', zstd: '.zst' } as const;

export const CONTENT_CODINGS = ['br', 'gzip', 'zstd'] as const;
export type ContentCoding = (typeof CONTENT_CODINGS)[number];
