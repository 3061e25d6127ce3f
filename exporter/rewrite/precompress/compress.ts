import * as zlib from 'node:zlib';
import type { ContentCoding } from '../../../contract/content-coding.ts';
import { ExportFailure } from '../../export-failure.ts';
import { canCompress, ZSTD_MISSING, zstdCompress } from '../../zstd-support.ts';

/**
 * At 6 manuals and scripts shrink to 23 % in about gzip's time. 8 takes 1.25 to 2 times as long for 1 % less, 9 takes 7
 * to 18 times for 2 % less, and 11 takes 50 times for 10 to 15 % less.
 */
const BROTLI_QUALITY = 6;
/** 9 takes half as long again for 0.5 % less. */
const GZIP_LEVEL = 6;
/**
 * Takes as long as brotli at 6 and reaches 24 to 26 %; 12 takes twice as long for 1 % less, 19 fifteen times for 3 to 6
 * %.
 */
const ZSTD_LEVEL = 9;
/** `ZSTD_c_compressionLevel`, fixed by zstd's interface; the oldest supported Node has no name for it. */
const ZSTD_LEVEL_PARAMETER = 100;
/** The operating system's byte in the gzip header: 255 is "unknown", so that all systems write the same. */
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
 * Compresses a file in one of zlib's threads. Equal bytes give equal results if `compressorsName` is the same. Rejects
 * if this Node lacks the coding (`canCompress`).
 */
export function compress(coding: ContentCoding, bytes: Uint8Array): Promise<Buffer> {
  return COMPRESSORS[coding](bytes);
}

/** What compressed bytes depend on besides the file: another release or processor may write others. */
export function compressorsName(): string {
  const { zlib: zlibVersion, brotli: brotliVersion, zstd: zstdVersion } = process.versions;
  return [process.arch, zlibVersion, brotliVersion, zstdVersion].join(' ');
}

/** Throws a permanent failure that says what to do if this worker lacks a compressor that the project needs. */
export function needCompressors(codings: readonly ContentCoding[]): void {
  if (codings.every(canCompress)) return;
  const message = `The project's files are to be compressed (precompress: ${codings.join(', ')}), but ${ZSTD_MISSING}`;
  throw new ExportFailure('ExportImpossible', message);
}
