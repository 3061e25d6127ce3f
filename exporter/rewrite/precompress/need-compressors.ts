import type { ContentCoding } from '../../../contract/content-coding.ts';
import { ExportFailure } from '../../export-failure.ts';
import { canCompress, ZSTD_MISSING } from '../../zstd-support.ts';

/** Throws a permanent failure that says what to do if this worker lacks a compressor that the project needs. */
export function needCompressors(codings: readonly ContentCoding[]): void {
  if (codings.every(canCompress)) return;
  const message = `The project's files are to be compressed (precompress: ${codings.join(', ')}), but ${ZSTD_MISSING}`;
  throw new ExportFailure('ExportImpossible', message);
}
