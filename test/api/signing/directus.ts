import { type SignedHeaders, type SignInput, signToken } from '../signing.ts';

/** The header is the one that a flow's Request URL operation was given. */
export function signDirectus(input: SignInput): SignedHeaders {
  return signToken(input);
}
