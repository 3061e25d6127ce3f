import { createHash } from 'node:crypto';

function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Tells two links apart without keeping either: a link's signature is a secret for as long as it is valid. */
export function linkFingerprint(link: URL): string {
  return fingerprint(link.href);
}

/** The same for every link to one object, whatever its signature. */
export function resourceFingerprint(link: URL): string {
  return fingerprint(`${link.protocol}//${link.host}${link.pathname}`);
}

/**
 * The SHA-256 that stands in a link's path, where the platform put it there. Only a match with bytes already held
 * proves anything: another service's path may hold any 64 hex digits.
 */
export function sha256InLink(link: URL): string | undefined {
  return /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/.exec(link.pathname)?.[0];
}

/** How a link is named in logs and in the status: never with its path or signature. */
export function linkLabel(link: URL): string {
  return link.protocol === 'file:' ? `file://${link.pathname}` : `${link.protocol}//${link.host}`;
}
