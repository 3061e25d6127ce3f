import { createHmac } from 'node:crypto';
import type { Sender, TestEvent } from '../sender.ts';

const ENVIRONMENT = 'master';

/** What Hygraph's own utilities write for each, two backslashes included. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['&', String.raw`\\u0026`],
  ['<', String.raw`\\u003c`],
  ['>', String.raw`\\u003e`],
]);

/** https://hygraph.com/docs/api-reference/basics/webhooks and @hygraph/utils: what is signed is a JSON text about the body. */
export const hygraphSender: Sender = {
  sample,
  headers({ at, body, secret }) {
    const t = at.getTime();
    const text = JSON.stringify({ Body: body, EnvironmentName: ENVIRONMENT, TimeStamp: t });
    const escaped = text.replace(/[&<>]/g, (sign) => ESCAPES.get(sign) ?? sign);
    const signature = createHmac('sha256', secret).update(escaped).digest('base64');
    return { 'gcms-signature': `sign=${signature}, env=${ENVIRONMENT}, t=${t}` };
  },
};

function sample({ uuid, title, slug, url, author, at }: TestEvent): Record<string, unknown> {
  const time = at.toISOString();
  return {
    operation: 'publish',
    data: {
      __typename: 'Article',
      id: `c${uuid.replaceAll('-', '').slice(0, 24)}`,
      stage: 'PUBLISHED',
      title,
      slug,
      url,
      createdAt: time,
      updatedAt: time,
      publishedAt: time,
      publishedBy: { __typename: 'User', id: 'galley', name: author },
    },
  };
}
