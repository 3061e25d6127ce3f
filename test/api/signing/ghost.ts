import { createHmac } from 'node:crypto';
import type { SignedHeaders, SignInput } from '../signing.ts';

/** As Ghost does in `services/webhooks/webhook-trigger.js`; it publishes no package for it. */
export function signGhost({ secret, body, at }: SignInput, text = `${body}${at.getTime()}`): SignedHeaders {
  return {
    'content-type': 'application/json',
    'content-version': 'v5.130',
    'x-ghost-signature': `sha256=${createHmac('sha256', secret).update(text).digest('hex')}, t=${at.getTime()}`,
  };
}

/** Ghost before July 2024, which left the time out of what it signed. */
export function signOldGhost(input: SignInput): SignedHeaders {
  return signGhost(input, input.body);
}
