import { createHmac } from 'node:crypto';
import type { Sender, TestEvent } from '../sender.ts';

/** https://kontent.ai/learn/docs/webhooks: one delivery may carry several notifications. */
export const kontentSender: Sender = {
  sample: (event) => ({ notifications: [notification(event)] }),
  headers: ({ body, secret }) => ({
    'x-kontent-ai-signature': createHmac('sha256', secret).update(body).digest('base64'),
  }),
};

function notification({ uuid, title, slug, at }: TestEvent): Record<string, unknown> {
  return {
    data: {
      system: {
        id: uuid,
        name: title,
        codename: slug.replaceAll('-', '_'),
        collection: 'default',
        workflow: 'default',
        workflow_step: 'published',
        language: 'default',
        type: 'article',
        last_modified: at.toISOString(),
      },
    },
    message: {
      environment_id: uuid,
      object_type: 'content_item',
      action: 'published',
      delivery_slot: 'published',
    },
  };
}
