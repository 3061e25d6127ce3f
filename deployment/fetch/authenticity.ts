import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../base/error-code.ts';
import { MANIFEST_PATH, SIGNATURE_PATH } from '../../contract/bundle.ts';
import { createVerifier } from '../../contract/signing.ts';
import { BundleSignatureError } from '../errors.ts';

/**
 * Checks a manifest's signature; the manifest in turn contains the hash of every file. Without a key every manifest is
 * accepted.
 * @throws BundleSignatureError
 */
export function checkSignature(
  publicKey: string | undefined,
  manifest: Uint8Array,
  signature: Uint8Array | undefined,
): void {
  if (publicKey === undefined) return;
  if (signature === undefined) {
    throw new BundleSignatureError(`it has no ${SIGNATURE_PATH}, and staticExport.publicKey requires a signature`);
  }
  if (!createVerifier(publicKey).verifies(manifest, Buffer.from(signature).toString('latin1'))) {
    throw new BundleSignatureError('its signature is not one of staticExport.publicKey for this manifest');
  }
}

/** The same for a version on the disk: it may have been unpacked before the key was set. */
export async function checkStoredSignature(publicKey: string | undefined, root: string): Promise<void> {
  if (publicKey === undefined) return;
  const manifest = await readFile(join(root, MANIFEST_PATH));
  const signature = await readFile(join(root, SIGNATURE_PATH)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  checkSignature(publicKey, manifest, signature);
}
