import { createHmac } from 'node:crypto';

/** The secret of the source `standard` in galley.yaml. */
export const BENCH_SECRET = `whsec_${Buffer.from('the key of the benches, 32 bytes').toString('base64')}`;

const KEY = Buffer.from(BENCH_SECRET.replace('whsec_', ''), 'base64');

/** The body that a CMS sends for a published entry, about a kilobyte. */
export function entryBody(index: number): string {
  return JSON.stringify({
    type: 'entry.published',
    timestamp: new Date().toISOString(),
    data: {
      id: `entry-${index}`,
      title: `Getting started, edition ${index}`,
      url: `https://docs.example.com/guides/getting-started?edition=${index}`,
      author: 'Ada Lovelace',
      tags: ['guide', 'start', 'install'],
      summary: 'How to install the product, what to configure first, and where to look when it does not start. '.repeat(
        8,
      ),
    },
  });
}

/** The headers of Standard Webhooks: the signature is an HMAC-SHA256 of `{id}.{timestamp}.{body}`. */
export function signedHeaders(id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', KEY).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
