import { type SignedHeaders, type SignInput, signToken } from '../signing.ts';

/** As the plugin WP Webhooks sends, with its Bearer authentication. */
export function signWordpress(input: SignInput, trigger = 'post_update'): SignedHeaders {
  return {
    ...signToken(input),
    'content-type': 'application/json; charset=UTF-8',
    'x-wp-webhook-source': 'https://blog.example.com/',
    'x-wp-webhook-name': trigger,
    'x-wp-webhook-url-name': 'galley',
  };
}
