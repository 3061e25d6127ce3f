import { randomUUID } from 'node:crypto';
import { encodeSignatureHeader, SIGNATURE_HEADER_NAME } from '@sanity/webhook';
import type { SignedHeaders, SignInput } from '../signing.ts';

export async function signSanity({ secret, body, at }: SignInput, operation = 'update'): Promise<SignedHeaders> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'sanity-project-id': 'zp7mbokg',
    'sanity-dataset': 'production',
    'sanity-document-id': 'post-1',
    'sanity-operation': operation,
    'sanity-transaction-id': randomUUID(),
    'sanity-transaction-time': at.toISOString(),
    'sanity-webhook-id': 'hook-1',
    'idempotency-key': randomUUID(),
    [SIGNATURE_HEADER_NAME]: await encodeSignatureHeader(body, at.getTime(), secret),
  };
}
