import { createHmac, randomUUID } from 'node:crypto';
import { type CanonicalRequest, signRequest } from '@contentful/node-apps-toolkit';
import { Webhooks } from '@octokit/webhooks';
import { Webhook } from 'standardwebhooks';

/** Headers as a sender makes them; vendors' own packages sign wherever there is one. */
export type SignedHeaders = Record<string, string>;
export type SignInput = { secret: string; body: string; path: string; at: Date };

const JSON_TYPE = { 'content-type': 'application/json' };

export function signStandard({ secret, body, at }: SignInput): SignedHeaders {
  const id = `msg_${randomUUID()}`;
  return {
    ...JSON_TYPE,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

export async function signGithub({ secret, body }: SignInput, event = 'push'): Promise<SignedHeaders> {
  return {
    ...JSON_TYPE,
    'x-github-event': event,
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': await new Webhooks({ secret }).sign(body),
  };
}

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

export function signToken({ secret }: SignInput): SignedHeaders {
  return { ...JSON_TYPE, authorization: `Bearer ${secret}` };
}

/** As tests configure `hmac`: SHA-512 in base64 over `{timestamp}.{body}`, with a prefix and an id. */
export function signHmac({ secret, body, at }: SignInput): SignedHeaders {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return {
    ...JSON_TYPE,
    'x-time': timestamp,
    'x-id': randomUUID(),
    'x-signature': `v0=${createHmac('sha512', secret).update(`${timestamp}.${body}`).digest('base64')}`,
  };
}

/** As the source `hmac` takes it with nothing but the header `X-Signature` configured. */
export function signBody(secret: string, body: string | Buffer, contentType = 'application/json'): SignedHeaders {
  return { 'content-type': contentType, 'x-signature': createHmac('sha256', secret).update(body).digest('hex') };
}

export const HMAC_SETTINGS = {
  header: 'X-Signature',
  algorithm: 'sha512',
  encoding: 'base64',
  prefix: 'v0=',
  timestampHeader: 'X-Time',
  idHeader: 'X-Id',
} as const;
