import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../base/sha256.ts';
import { bundleManifest, MANIFEST_PATH } from '../../contract/bundle.ts';
import type { ServedSite } from '../site.ts';

export type StoredVersion = Pick<ServedSite, 'root' | 'manifest' | 'manifestSha256' | 'storedAtMs'>;

/** Reads a version in its folder. Throws if its manifest is missing or damaged. */
export async function readStored(root: string): Promise<StoredVersion> {
  const file = join(root, MANIFEST_PATH);
  const bytes = await readFile(file);
  const manifest = bundleManifest.parse(JSON.parse(bytes.toString('utf8')));
  // Written last.
  const { mtimeMs: storedAtMs } = await stat(file);
  return { root, manifest, manifestSha256: sha256Hex(bytes), storedAtMs };
}
