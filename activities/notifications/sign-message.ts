import { Webhook } from 'standardwebhooks';
import { sha256Hex } from '../../base/sha256.ts';

export type OutgoingMessage = { headers: Record<string, string>; body: string };

/**
 * A JSON message signed by Standard Webhooks, with a signature for each secret.
 * @param identity the same in every attempt, so that receivers can drop what they already have
 * @param secrets as `canonicalSecret` gives them
 * @param now signed as the time of the attempt
 */
export function signMessage(
  body: object,
  { identity, secrets, now }: { identity: string; secrets: readonly string[]; now: Date },
): OutgoingMessage {
  const message = jsonMessage(body);
  const id = `msg_${sha256Hex(identity).slice(0, 32)}`;
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, now, message.body));
  const headers = {
    ...message.headers,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  };
  return { headers, body: message.body };
}

export function jsonMessage(body: object): OutgoingMessage {
  return {
    headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'Galley' },
    body: JSON.stringify(body),
  };
}

/** galley.yaml may leave out the prefix and the padding, which the signing library doesn't always accept. */
export function canonicalSecret(secret: string): string {
  return `whsec_${Buffer.from(secret.replace(/^whsec_/, ''), 'base64').toString('base64')}`;
}
