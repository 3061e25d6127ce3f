import { createHmac } from 'node:crypto';
import type { Sender, TestEvent } from '../sender.ts';

/** https://developers.webflow.com/data/docs/working-with-webhooks: time and body, joined by a colon. */
export const webflowSender: Sender = {
  sample,
  headers({ at, body, secret }) {
    const timestamp = at.getTime();
    return {
      'x-webflow-timestamp': String(timestamp),
      'x-webflow-signature': createHmac('sha256', secret).update(`${timestamp}:${body}`).digest('hex'),
    };
  },
};

function sample({ uuid, title, slug, at }: TestEvent): Record<string, unknown> {
  const time = at.toISOString();
  const id = (from: string): string => Buffer.from(from).toString('hex').slice(0, 24).padEnd(24, '0');
  const item = {
    id: uuid.replaceAll('-', '').slice(0, 24),
    siteId: id('site'),
    workspaceId: id('workspace'),
    collectionId: id('collection'),
    cmsLocaleId: null,
    lastPublished: time,
    lastUpdated: time,
    createdOn: time,
    isArchived: false,
    isDraft: false,
    fieldData: { name: title, slug },
  };
  return { triggerType: 'collection_item_published', payload: { items: [item] } };
}
