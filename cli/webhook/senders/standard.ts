import { createHmac } from 'node:crypto';
import type { WebhookSources } from '../../../contract/webhook-sources.ts';
import type { Sender } from '../sender.ts';
import { matching } from './matching.ts';

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
export function standardSender({ filters }: NonNullable<WebhookSources['standard']>): Sender {
  return {
    sample: ({ uuid, title, slug, url, author, at }) =>
      matching(filters, {
        type: 'entry.published',
        timestamp: at.toISOString(),
        data: { id: uuid, title, slug, url, author },
      }),
    headers({ id, at, body, secret }) {
      const timestamp = Math.floor(at.getTime() / 1000);
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
      return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` };
    },
  };
}
