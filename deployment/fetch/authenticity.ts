import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../base/error-code.ts';
import { sha256Hex } from '../../base/sha256.ts';
import type { Head } from '../../bundle/read-bundle.ts';
import { type BundleManifest, MANIFEST_PATH, SIGNATURE_PATH } from '../../contract/bundle.ts';
import { integrityOf } from '../../contract/integrity.ts';
import { createVerifier } from '../../contract/signing.ts';
import { BundleRefusedError, VersionPinnedError } from '../errors.ts';
import type { ServedSite } from '../site.ts';

/** What the values file requires of a bundle. */
export type Required = {
  /** It must be signed for this key. */
  publicKey?: string | undefined;
  /** It must have the manifest with this hash. */
  integrity?: string | undefined;
};

/**
 * Checks a manifest, which in turn contains the hash of every file.
 * @throws BundleRefusedError
 */
export function checkHead({ publicKey, integrity }: Required, { manifest, signature, pathOf }: Head): void {
  const key = publicKey === undefined ? integrity && 'integrity' : 'publicKey';
  if (pathOf !== undefined && key !== undefined) {
    throw new BundleRefusedError(`it has no ${MANIFEST_PATH}, and staticExport.${key} requires one`);
  }
  checkIntegrity(integrity, sha256Hex(manifest));
  if (publicKey === undefined) return;
  if (signature === undefined) {
    throw new BundleRefusedError(`it has no ${SIGNATURE_PATH}, and staticExport.publicKey requires a signature`);
  }
  if (!createVerifier(publicKey).verifies(manifest, signature.toString('latin1'))) {
    throw new BundleRefusedError('its signature is not one of staticExport.publicKey for this manifest');
  }
}

/** The same for a version on the disk: it may have been unpacked before the values file required it. */
export async function checkStored(
  required: Required,
  { root, manifestSha256 }: Pick<ServedSite, 'root' | 'manifestSha256'>,
): Promise<void> {
  checkIntegrity(required.integrity, manifestSha256);
  if (required.publicKey === undefined) return;
  const manifest = await readFile(join(root, MANIFEST_PATH));
  const signature = await readFile(join(root, SIGNATURE_PATH)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  checkHead(required, { manifest, ...(signature !== undefined && { signature }) });
}

/** Whether a version on the disk is what is required. */
export async function isAccepted(
  required: Required,
  site: Pick<ServedSite, 'root' | 'manifestSha256'>,
): Promise<boolean> {
  return await checkStored(required, site).then(
    () => true,
    () => false,
  );
}

/** @throws VersionPinnedError */
export function checkPin(
  pinnedVersion: string | undefined,
  { version, foreign }: Pick<BundleManifest, 'version' | 'foreign'>,
): void {
  checkVersion(pinnedVersion, { found: version, isUnnamed: foreign !== undefined });
}

/**
 * The same for an archive that a pin has rejected before.
 * @throws VersionPinnedError
 */
export function checkVersion(
  pinnedVersion: string | undefined,
  { found, isUnnamed }: Pick<VersionPinnedError, 'found' | 'isUnnamed'>,
): void {
  if (pinnedVersion === undefined || pinnedVersion === found) return;
  throw new VersionPinnedError(pinnedVersion, found, isUnnamed);
}

function checkIntegrity(integrity: string | undefined, manifestSha256: string): void {
  if (integrity === undefined || integrityOf(manifestSha256) === integrity) return;
  throw new BundleRefusedError('its manifest is not the one of staticExport.integrity: it is another bundle');
}
