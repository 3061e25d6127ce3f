import { z } from 'zod';

/**
 * `staticExport.integrity`: `sha256-` and the base64 SHA-256 of a manifest. The manifest has the hash of every file, so it
 * stands for one bundle and no other. One text for each hash, so that texts can be compared.
 */
export const integrityText = z
  .string()
  .regex(
    /^sha256-[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/,
    'expected sha256- and the base64 SHA-256 of a manifest, as Galley writes it',
  );

/** @param manifestSha256 in hex */
export function integrityOf(manifestSha256: string): string {
  return `sha256-${Buffer.from(manifestSha256, 'hex').toString('base64')}`;
}
