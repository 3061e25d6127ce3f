import { createHash } from 'node:crypto';
import type { ExportLimits } from '../limits.ts';
import { compressorsName } from '../rewrite/precompress/compress.ts';
import type { ExportSettings } from '../settings.ts';

/**
 * What the stored bytes of an export depend on beside the origin's answers: the engine, the project's settings and the
 * limits that shape files or the archive's pieces; with precompressed files also what compresses them. Two exports may share what they stored only where this is equal.
 * What belongs to one job alone, or only decides which addresses are asked for, has no part in it.
 */
export function reuseKeyOf(engine: string, settings: ExportSettings, limits: ExportLimits): string {
  const { jobId: _, version: _v, createdAt: _c, pages: _p, robotsTxt: _r, ...lasting } = settings;
  const { maxBufferedBytes, pieceBytes, batchFiles, batchBytes, gzipLevel } = limits;
  const shaping = { maxBufferedBytes, pieceBytes, batchFiles, batchBytes, gzipLevel };
  const compressors = settings.precompress.length === 0 ? '' : compressorsName();
  const sorted = Object.entries({ ...lasting, ...shaping, compressors }).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([engine, sorted]))
    .digest('hex')
    .slice(0, 32);
}
