import type { WebhookSources } from '../../../contract/webhook-sources.ts';
import type { Sender } from '../sender.ts';
import { matching } from './matching.ts';
import { tokenHeader } from './token-header.ts';

/** WordPress leaves webhooks to plugins. WP Webhooks sends the post as the database has it, and names its trigger in a header. */
export function wordpressSender(settings: NonNullable<WebhookSources['wordpress']>): Sender {
  return {
    sample({ number, title, slug, url, author, at }) {
      const time = at.toISOString().slice(0, 19).replace('T', ' ');
      return matching(settings.filters, {
        post_id: number,
        post: {
          ID: number,
          post_author: author,
          post_date: time,
          post_date_gmt: time,
          post_modified: time,
          post_modified_gmt: time,
          post_title: title,
          post_name: slug,
          post_status: 'publish',
          post_type: 'post',
          guid: url,
        },
        post_permalink: url,
      });
    },
    headers: ({ secret }) => ({ ...tokenHeader(settings, secret), 'x-wp-webhook-name': 'post_update' }),
  };
}
