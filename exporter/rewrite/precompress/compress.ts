import * as zlib from 'node:zlib';
import type { ContentCoding } from '../../../contract/content-coding.ts';
import { ZSTD_MISSING, zstdCompress } from '../../zstd-support.ts';

/**
 * Text of manuals and of scripts comes to 23 % of its size at brotli 6, at about gzip's cost. 8 takes a quarter to twice
 * as much more time for 1 % less, 9 seven to eighteen times as much for 2 % less, 11 fifty times as much for 10 to 15 %.
 */
const BROTLI_QUALITY = 6;
/** 9 takes half as much time again for half a per cent. */
const GZIP_LEVEL = 6;
/** Costs what brotli does at 6, and makes 24 to 26 %; 12 takes twice as long for 1 % less, 19 fifteen times for 3 to 6 %. */
const ZSTD_LEVEL = 9;
/** `ZSTD_c_compressionLevel`, fixed by zstd's interface; the oldest Node that Galley runs on has no name for it. */
const ZSTD_LEVEL_PARAMETER = 100;
/** The gzip header's byte for the operating system: 255 is "unknown", so that every system writes the same. */
const OPERATING_SYSTEM_AT = 9;

type Done = (error: Error | null, compressed: Buffer) => void;

function settled(start: (done: Done) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    start((error, compressed) => (error === null ? resolve(compressed) : reject(error)));
  });
}

function brotli(bytes: Uint8Array): Promise<Buffer> {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants;
  const params = { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_SIZE_HINT]: bytes.byteLength };
  return settled((done) => zlib.brotliCompress(bytes, { params }, done));
}

async function gzip(bytes: Uint8Array): Promise<Buffer> {
  const compressed = await settled((done) => zlib.gzip(bytes, { level: GZIP_LEVEL }, done));
  compressed[OPERATING_SYSTEM_AT] = 255;
  return compressed;
}

function zstd(bytes: Uint8Array): Promise<Buffer> {
  return settled((done) => {
    if (typeof zstdCompress !== 'function') throw new Error(ZSTD_MISSING);
    zstdCompress(bytes, { params: { [ZSTD_LEVEL_PARAMETER]: ZSTD_LEVEL } }, done);
  });
}

const COMPRESSORS = { br: brotli, gzip, zstd } as const satisfies Record<ContentCoding, unknown>;

/**
 * A file's bytes in a content coding, made in one of zlib's own threads. Equal bytes become equal bytes wherever
 * `compressorsName` is the same. Rejects where this Node can't (`canCompress`).
 */
export function compress(coding: ContentCoding, bytes: Uint8Array): Promise<Buffer> {
  return COMPRESSORS[coding](bytes);
}

/** What the compressed bytes depend on beside the file: another release, or another processor, may write others. */
export function compressorsName(): string {
  const { zlib: zlibVersion, brotli: brotliVersion, zstd: zstdVersion } = process.versions;
  return [process.arch, zlibVersion, brotliVersion, zstdVersion].join(' ');
}
