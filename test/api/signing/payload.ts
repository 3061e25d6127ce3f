import type { SignedHeaders, SignInput } from '../signing.ts';

/** As a hook sends it that was configured with a header of its own. */
export function signPayload({ secret }: SignInput): SignedHeaders {
  return { 'content-type': 'application/json', 'x-galley-token': secret };
}
