import { createHmac } from 'node:crypto';

/** Who unsubscribes from which rule. */
type Subscription = { site: string; rule: string; address: string };

/**
 * A reviewer's unsubscribe link: `{publicUrl}/unsubscribe/{site}/{rule}/{address in base64url}/{token}`. The token is
 * an HMAC under `key`, so only the recipient of a mail can unsubscribe its address. Never logged.
 * @param publicUrl the receiver's public URL, with or without a path.
 */
export function createUnsubscribeLink(publicUrl: string, subscription: Subscription, key: string): string {
  const { site, rule, address } = subscription;
  const path = [site, rule, Buffer.from(address, 'utf8').toString('base64url'), tokenOf(subscription, key)];
  const base = new URL(publicUrl).href.replace(/\/+$/, '');
  return `${base}/unsubscribe/${path.map(encodeURIComponent).join('/')}`;
}

/** The receiver checks it in api/unsubscribe.ts, which can't import from here. */
function tokenOf({ site, rule, address }: Subscription, key: string): string {
  return createHmac('sha256', key).update(`unsubscribe\n${site}\n${rule}\n${address}`).digest('base64url');
}
