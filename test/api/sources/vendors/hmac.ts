import { createHmac, randomUUID } from 'node:crypto';
import { jsonCases } from '../json-cases.ts';
import { FIVE_MINUTES_MS, type SignedHeaders, type SignInput, secretsOf, type Vendor } from '../vendor.ts';

/** As tests configure `hmac`: SHA-512 in base64 over `{timestamp}.{body}`, with a prefix and an id. */
export function signHmac({ secret, body, at }: SignInput): SignedHeaders {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return {
    'content-type': 'application/json',
    'x-time': timestamp,
    'x-id': randomUUID(),
    'x-signature': `v0=${createHmac('sha512', secret).update(`${timestamp}.${body}`).digest('base64')}`,
  };
}

/** A signature for the source `hmac` with only the header `X-Signature` configured. */
export function signBody(secret: string, body: string | Buffer, contentType = 'application/json'): SignedHeaders {
  return { 'content-type': contentType, 'x-signature': createHmac('sha256', secret).update(body).digest('hex') };
}

export const vendor: Vendor = {
  secrets: secretsOf('hmac'),
  settings: {
    header: 'X-Signature',
    algorithm: 'sha512',
    encoding: 'base64',
    prefix: 'v0=',
    timestampHeader: 'X-Time',
    idHeader: 'X-Id',
  },
  scheme: {
    sign: signHmac,
    signature: 'x-signature',
    required: ['x-time', 'x-id'],
    signed: ['x-time'],
    signsBody: true,
    idOf: (headers) => headers['x-id'],
    pastMs: FIVE_MINUTES_MS,
  },
  cases: jsonCases,
};
