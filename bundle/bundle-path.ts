import { sha256Hex } from '../base/sha256.ts';

/**
 * What a deployment's status reports as `bundlePath`, the same for all links to one bundle: the SHA-256 of the link's
 * origin and path, or of a whole `file://` link. Null if it is no link.
 */
export function bundlePathOf(link: string): string | null {
  if (!URL.canParse(link)) return null;
  const { protocol, origin, pathname, href } = new URL(link);
  return sha256Hex(protocol === 'file:' ? href : origin + pathname);
}
