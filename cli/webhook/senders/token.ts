import type { WebhookSources } from '../../../contract/webhook-sources.ts';
import type { Sender } from '../sender.ts';
import { matching } from './matching.ts';
import { tokenHeader } from './token-header.ts';

/** Whatever can send a header and JSON. */
export function tokenSender(settings: NonNullable<WebhookSources['token']>): Sender {
  return {
    sample: ({ uuid, title, slug, url, author, at }) =>
      matching(settings.filters, {
        event: 'entry.publish',
        timestamp: at.toISOString(),
        entry: { id: uuid, title, slug, url, author },
      }),
    headers: ({ secret }) => tokenHeader(settings, secret),
  };
}
