import type { WebhookSources } from '../../../contract/webhook-sources.ts';
import type { Sender } from '../sender.ts';
import { matching } from './matching.ts';
import { tokenHeader } from './token-header.ts';

/** https://directus.io/docs/guides/automate/triggers: a flow on an event hook that posts its `$trigger`. */
export function directusSender(settings: NonNullable<WebhookSources['directus']>): Sender {
  return {
    sample: ({ uuid, title, slug, url, author, at }) =>
      matching(settings.filters, {
        event: 'articles.items.update',
        accountability: { user: author, role: 'editor', admin: false, app: true },
        payload: { title, slug, url, status: 'published', date_updated: at.toISOString() },
        keys: [uuid],
        collection: 'articles',
      }),
    headers: ({ secret }) => tokenHeader(settings, secret),
  };
}
