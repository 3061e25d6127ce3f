import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { WebhookSources } from '../../../contract/webhook-sources.ts';
import type { Sender, TestEvent } from '../sender.ts';

const entity = z.object({ sys: z.object({ type: z.string().regex(/^\w+$/) }) });

/**
 * https://www.contentful.com/developers/docs/webhooks/request-verification/: the path is signed as Contentful calls it,
 * so the one that is configured for a proxy goes before the one that is called here.
 */
export function contentfulSender(settings: NonNullable<WebhookSources['contentful']>): Sender {
  return {
    sample,
    headers({ id, at, body, json, path, secret }) {
      const sent = {
        'content-type': 'application/vnd.contentful.management.v1+json',
        'x-contentful-idempotency-key': id,
        'x-contentful-timestamp': String(at.getTime()),
        'x-contentful-topic': `ContentManagement.${topicOf(json)}`,
        'x-contentful-webhook-name': 'galley webhook send',
      };
      const names = [...Object.keys(sent), 'x-contentful-signed-headers'].sort();
      const headers = { ...sent, 'x-contentful-signed-headers': names.join(',') };
      const lines = Object.entries(headers).sort(([left], [right]) => (left < right ? -1 : 1));
      const canonical = [
        'POST',
        settings.path ?? path,
        lines.map(([name, value]) => `${name}:${value}`).join(';'),
        body,
      ].join('\n');
      return { ...headers, 'x-contentful-signature': createHmac('sha256', secret).update(canonical).digest('hex') };
    },
  };
}

/** `DeletedEntry` and its like are what the body of an unpublish is. */
function topicOf(json: unknown): string {
  const type = entity.safeParse(json).data?.sys.type ?? 'Entry';
  return type.startsWith('Deleted') ? `${type.slice('Deleted'.length)}.unpublish` : `${type}.publish`;
}

function sample({ uuid, title, slug, at }: TestEvent): Record<string, unknown> {
  const link = (linkType: string, id: string) => ({ sys: { type: 'Link', linkType, id } });
  const time = at.toISOString();
  return {
    sys: {
      type: 'Entry',
      id: `galleytest${uuid.replaceAll('-', '')}`,
      space: link('Space', 'galley-test'),
      environment: link('Environment', 'master'),
      contentType: link('ContentType', 'article'),
      createdBy: link('User', 'galley-webhook-send'),
      updatedBy: link('User', 'galley-webhook-send'),
      publishedBy: link('User', 'galley-webhook-send'),
      createdAt: time,
      updatedAt: time,
      publishedAt: time,
      revision: 1,
      publishedCounter: 1,
      publishedVersion: 1,
    },
    fields: { title: { 'en-US': title }, slug: { 'en-US': slug } },
  };
}
