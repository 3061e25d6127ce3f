import { createHash } from 'node:crypto';
import type { ExportLimits } from '../limits.ts';
import { compressorsName } from '../rewrite/precompress/compress.ts';
import type { ExportSettings } from '../settings.ts';

/**
 * What an export's stored bytes depend on besides the origin's responses: the engine, the project's settings, the
 * limits that shape files or pieces, and the compressors if files are precompressed. Exports may share stored bytes
 * only if their keys are equal. Leaves out what belongs to a single job, or only decides which URLs are requested.
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
