import { createHmac } from 'node:crypto';
import type { Sender } from '../sender.ts';

/** https://www.storyblok.com/docs/concepts/webhooks: nothing in the body tells one publish of a story from the next. */
export const storyblokSender: Sender = {
  sample: ({ number, title, slug, author }) => ({
    text: `The user ${author} published the Story ${title} (${slug})`,
    action: 'published',
    space_id: 100_000,
    story_id: number,
    full_slug: slug,
  }),
  headers: ({ body, secret }) => ({
    'webhook-signature': createHmac('sha1', secret).update(body).digest('hex'),
  }),
};
