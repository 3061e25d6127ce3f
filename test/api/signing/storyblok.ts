import { createHmac } from 'node:crypto';
import type { SignedHeaders, SignInput } from '../signing.ts';

export function signStoryblok({ secret, body }: SignInput): SignedHeaders {
  return {
    'content-type': 'application/json',
    'webhook-signature': createHmac('sha1', secret).update(body).digest('hex'),
  };
}
