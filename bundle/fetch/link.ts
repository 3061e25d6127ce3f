import { sha256Hex } from '../../base/sha256.ts';

/** Identifies a link without storing it: its signature is a secret while it is valid. */
export function linkFingerprint(link: URL): string {
  return sha256Hex(link.href);
}

/** The same for all links to one object, whatever their signature: a deployment's status has it as `bundlePath`. */
export function resourceFingerprint(link: URL): string {
  return sha256Hex(link.protocol === 'file:' ? link.href : link.origin + link.pathname);
}

/** The same of the text of a link; null if it is none. */
export function bundlePathOf(link: string): string | null {
  return URL.canParse(link) ? resourceFingerprint(new URL(link)) : null;
}

/**
 * The SHA-256 in a link's path, if the platform made it. Only a match with bytes on the disk proves anything: another
 * service's path may contain any 64 hex digits.
 */
export function sha256InLink(link: URL): string | undefined {
  return /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/.exec(link.pathname)?.[0];
}

/** A link's name for logs and the status, without its path and signature. */
export function linkLabel(link: URL): string {
  return link.protocol === 'file:' ? `file://${link.pathname}` : `${link.protocol}//${link.host}`;
}
