import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { jsonCases } from '../json-cases.ts';
import { FIVE_MINUTES_MS, type SignedHeaders, type SignInput, type Vendor } from '../vendor.ts';

const base64Secret = (letter: string): string => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;

export function signStandard({ secret, body, at }: SignInput): SignedHeaders {
  const id = `msg_${randomUUID()}`;
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

export const vendor: Vendor = {
  secrets: [base64Secret('a'), base64Secret('b'), base64Secret('c')],
  scheme: {
    sign: signStandard,
    signature: 'webhook-signature',
    required: ['webhook-id', 'webhook-timestamp'],
    signed: ['webhook-id', 'webhook-timestamp'],
    signsBody: true,
    idOf: (headers) => headers['webhook-id'],
    pastMs: FIVE_MINUTES_MS,
    futureMs: FIVE_MINUTES_MS,
  },
  cases: jsonCases,
};
