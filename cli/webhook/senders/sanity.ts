import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Sender, TestEvent } from '../sender.ts';

const document = z.object({ _id: z.string().regex(/^[\w.-]+$/) });

/** https://www.sanity.io/docs/webhooks: the body is the document, and headers tell what became of it. */
export const sanitySender: Sender = {
  sample,
  headers({ id, at, body, json, secret }) {
    const t = at.getTime();
    const signature = createHmac('sha256', secret).update(`${t}.${body}`).digest('base64url');
    return {
      'sanity-webhook-signature': `t=${t},v1=${signature}`,
      'idempotency-key': id,
      'sanity-operation': 'update',
      'sanity-document-id': document.safeParse(json).data?._id ?? id,
      'sanity-project-id': 'galleytest',
      'sanity-dataset': 'production',
      'sanity-transaction-id': id,
      'sanity-transaction-time': at.toISOString(),
    };
  },
};

function sample({ uuid, title, slug, url, at }: TestEvent): Record<string, unknown> {
  const time = at.toISOString();
  return {
    _id: uuid,
    _type: 'article',
    _rev: uuid.replaceAll('-', ''),
    _createdAt: time,
    _updatedAt: time,
    title,
    slug: { _type: 'slug', current: slug },
    url,
  };
}
