import { createHmac } from 'node:crypto';
import type { Sender, TestEvent } from '../sender.ts';

/** As Ghost's own WebhookTrigger does it: the time follows the body directly, in milliseconds. */
export const ghostSender: Sender = {
  sample,
  headers({ at, body, secret }) {
    const t = at.getTime();
    const signature = createHmac('sha256', secret).update(`${body}${t}`).digest('hex');
    return { 'x-ghost-signature': `sha256=${signature}, t=${t}`, 'content-version': 'v6.0' };
  },
};

function sample({ uuid, title, slug, url, author, at }: TestEvent): Record<string, unknown> {
  const time = at.toISOString();
  const person = { id: '1', name: author, slug: 'galley' };
  return {
    post: {
      current: {
        id: uuid.replaceAll('-', '').slice(0, 24),
        uuid,
        title,
        slug,
        url,
        status: 'published',
        visibility: 'public',
        created_at: time,
        updated_at: time,
        published_at: time,
        authors: [person],
        primary_author: person,
      },
      previous: { status: 'draft', updated_at: time, published_at: null },
    },
  };
}
