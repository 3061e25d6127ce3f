import { createHmac, randomUUID } from 'node:crypto';

/** What Contentful sends when an editor publishes an entry. */
export interface PublishedEntry {
  id: string;
  title: string;
}

const TOPIC = 'ContentManagement.Entry.publish';
const SIGNED_HEADERS = ['x-contentful-signed-headers', 'x-contentful-timestamp', 'x-contentful-topic'];

/**
 * Delivers a signed publish event, as Contentful would (https://www.contentful.com/developers/docs/webhooks/
 * request-verification/). Resolves with the status and body of the answer.
 */
export async function publish(
  url: URL,
  secret: string,
  entry: PublishedEntry,
): Promise<{ status: number; body: string }> {
  const now = new Date();
  const body = JSON.stringify({
    sys: { type: 'Entry', id: entry.id, updatedAt: now.toISOString() },
    fields: { title: { 'en-US': entry.title } },
  });
  const headers: Record<string, string> = {
    'x-contentful-signed-headers': SIGNED_HEADERS.join(','),
    'x-contentful-timestamp': String(now.getTime()),
    'x-contentful-topic': TOPIC,
  };
  const signedHeaders = SIGNED_HEADERS.map((name) => `${name}:${headers[name]}`).join(';');
  const signature = createHmac('sha256', secret)
    .update(['POST', url.pathname, signedHeaders, body].join('\n'))
    .digest('hex');
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/vnd.contentful.management.v1+json',
      'x-contentful-signature': signature,
      'x-contentful-idempotency-key': randomUUID(),
    },
    body,
  });
  return { status: response.status, body: await response.text() };
}
