import { z } from 'zod';
import type { WebhookSources } from '../../../contract/webhook-sources.ts';
import type { Sender, TestEvent } from '../sender.ts';
import { matching } from './matching.ts';
import { tokenHeader } from './token-header.ts';

const told = z.object({ event: z.string().regex(/^[\w.-]+$/) });

/** https://docs.strapi.io/cms/backend-customization/webhooks: the event stands in a header too. */
export function strapiSender(settings: NonNullable<WebhookSources['strapi']>): Sender {
  return {
    sample: (event) => matching(settings.filters, sample(event)),
    headers: ({ json, secret }) => ({
      ...tokenHeader(settings, secret),
      'x-strapi-event': told.safeParse(json).data?.event ?? 'entry.publish',
    }),
  };
}

function sample({ number, uuid, title, slug, url, at }: TestEvent): Record<string, unknown> {
  const time = at.toISOString();
  return {
    event: 'entry.publish',
    createdAt: time,
    model: 'article',
    uid: 'api::article.article',
    entry: {
      id: number,
      documentId: uuid.replaceAll('-', '').slice(0, 24),
      title,
      slug,
      url,
      locale: 'en',
      createdAt: time,
      updatedAt: time,
      publishedAt: time,
    },
  };
}
