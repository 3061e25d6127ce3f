import { createHmac } from 'node:crypto';
import type { SignedHeaders, SignInput } from '../signing.ts';

/** As the vendor's own verifier (`webflow-api`, WebhooksClient.verifySignature) expects it. */
export function signWebflow({ secret, body, at }: SignInput): SignedHeaders {
  const timestamp = String(at.getTime());
  return {
    'content-type': 'application/json',
    'x-webflow-timestamp': timestamp,
    'x-webflow-signature': createHmac('sha256', secret).update(`${timestamp}:${body}`).digest('hex'),
  };
}
