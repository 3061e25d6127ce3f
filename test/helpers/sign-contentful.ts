import { randomUUID } from 'node:crypto';
import { type CanonicalRequest, signRequest } from '@contentful/node-apps-toolkit';
import type { SignedHeaders, SignInput } from '../api/sources/vendor.ts';

/** Signs a delivery with Contentful's own package. */
export function signContentful(
  { secret, body, path, at }: SignInput,
  topic = 'Entry.publish',
  id: string = randomUUID(),
): SignedHeaders {
  const headers = {
    'content-type': 'application/vnd.contentful.management.v1+json',
    'x-contentful-topic': `ContentManagement.${topic}`,
    'x-contentful-idempotency-key': id,
  };
  const request: CanonicalRequest = { method: 'POST', path, headers, body };
  const { 'x-contentful-signature': signature, ...rest } = signRequest(secret, request, at.getTime());
  return { ...headers, ...rest, 'x-contentful-signature': signature };
}
