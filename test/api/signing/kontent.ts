import { signatureHelper } from '@kontent-ai/webhook-helper';
import type { SignedHeaders, SignInput } from '../signing.ts';

export function signKontent({ secret, body }: SignInput, header = 'x-kontent-ai-signature'): SignedHeaders {
  return { 'content-type': 'application/json', [header]: signatureHelper.getHashFromString(body, secret) };
}

export function signLegacyKontent(input: SignInput): SignedHeaders {
  return signKontent(input, 'x-kc-signature');
}
