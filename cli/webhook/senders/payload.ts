import type { WebhookSources } from '../../../contract/webhook-sources.ts';
import type { Sender } from '../sender.ts';
import { matching } from './matching.ts';
import { tokenHeader } from './token-header.ts';

/**
 * https://payloadcms.com/docs/hooks/collections: Payload has no webhooks of its own. This is what an `afterChange` hook
 * is given, sent as it is.
 */
export function payloadSender(settings: NonNullable<WebhookSources['payload']>): Sender {
  return {
    sample: ({ uuid, title, slug, url, at }) =>
      matching(settings.filters, {
        collection: 'articles',
        operation: 'update',
        doc: {
          id: uuid.replaceAll('-', '').slice(0, 24),
          title,
          slug,
          url,
          _status: 'published',
          createdAt: at.toISOString(),
          updatedAt: at.toISOString(),
        },
        previousDoc: { _status: 'draft' },
      }),
    headers: ({ secret }) => tokenHeader(settings, secret),
  };
}
