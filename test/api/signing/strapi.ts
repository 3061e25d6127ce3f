import { type SignedHeaders, type SignInput, signToken } from '../signing.ts';

export function signStrapi(input: SignInput, event = 'entry.publish'): SignedHeaders {
  return { ...signToken(input), 'x-strapi-event': event };
}
