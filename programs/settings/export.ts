import { z } from 'zod';
import { type BundleSigner, createSigner, EXPECTED_PRIVATE_KEY } from '../../contract/signing.ts';
import type { ExportLimits } from '../../exporter/limits.ts';
import { DEFAULT_LIMITS } from '../../exporter/limits.ts';
import { byteSize } from './byte-size.ts';

const connections = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'expected a number from 1 to 999')
  .transform(Number);

const fileCount = z
  .string()
  .regex(/^[1-9]\d{0,7}$/, 'expected a number from 1 to 99999999')
  .transform(Number);

const bundleSigner = z.string().transform((text, context): BundleSigner => {
  try {
    return createSigner(text);
  } catch {
    context.addIssue({ code: 'custom', message: EXPECTED_PRIVATE_KEY });
    return z.NEVER;
  }
});

/** The variables EXPORT_… and BUNDLE_SIGNING_KEY, read by the platform's worker and `galley export`. */
export const exportVariables = {
  EXPORT_CONNECTIONS: connections.optional(),
  EXPORT_MAX_FILES: fileCount.optional(),
  EXPORT_MAX_DECODED_BYTES: byteSize.optional(),
  EXPORT_MAX_BYTES: byteSize.optional(),
  BUNDLE_SIGNING_KEY: bundleSigner.optional(),
};

type ExportVariables = z.infer<z.ZodObject<typeof exportVariables>>;

/** The export limits that the variables change. */
export function readExportLimits(env: ExportVariables): Partial<ExportLimits> {
  const { EXPORT_CONNECTIONS, EXPORT_MAX_FILES, EXPORT_MAX_DECODED_BYTES, EXPORT_MAX_BYTES } = env;
  return {
    ...(EXPORT_CONNECTIONS !== undefined && { maxConcurrency: EXPORT_CONNECTIONS }),
    // Every file needs at least one URL.
    ...(EXPORT_MAX_FILES !== undefined && {
      maxFiles: EXPORT_MAX_FILES,
      maxUrls: Math.max(EXPORT_MAX_FILES, DEFAULT_LIMITS.maxUrls),
    }),
    ...(EXPORT_MAX_DECODED_BYTES !== undefined && { maxDecodedBytes: EXPORT_MAX_DECODED_BYTES }),
    ...(EXPORT_MAX_BYTES !== undefined && { maxStoredBytes: EXPORT_MAX_BYTES }),
  };
}
