import { UsageError } from '../../command-error.ts';
import type { Sender } from '../sender.ts';

/**
 * https://prismic.io/docs/webhooks: the secret stands in the body, and documents have no more than their ids, so it is
 * the id that says what this is.
 */
export const prismicSender: Sender = {
  sample: ({ slug, uuid }) => ({
    type: 'api-update',
    masterRef: uuid,
    releases: {},
    masks: {},
    tags: {},
    documents: [slug],
    domain: 'galley-test',
    apiUrl: 'https://galley-test.prismic.io/api',
  }),
  headers: () => ({}),
  withSecret(json, secret) {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      throw new UsageError('--body: expected a JSON object, because prismic carries its secret in it');
    }
    const given: unknown = Object.hasOwn(json, 'secret') ? Reflect.get(json, 'secret') : null;
    return { ...json, secret: given ?? secret };
  },
};
