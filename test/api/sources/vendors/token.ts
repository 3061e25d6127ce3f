import { jsonCases } from '../json-cases.ts';
import { type SignedHeaders, type SignInput, secretsOf, tokenScheme, type Vendor } from '../vendor.ts';

export function signToken({ secret }: SignInput): SignedHeaders {
  return { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
}

export const vendor: Vendor = { secrets: secretsOf('token'), scheme: tokenScheme(signToken), cases: jsonCases };
