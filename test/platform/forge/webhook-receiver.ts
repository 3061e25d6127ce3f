import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhooks } from '@octokit/webhooks';
import { startHttpSite } from '../../helpers/http-site.ts';

export const SECRET = 'secret-of-the-webhook';

export type Received = {
  event: string;
  id: string;
  verified: boolean;
  headers: IncomingHttpHeaders;
  body: { action?: string; [field: string]: unknown };
};

export type WebhookReceiver = {
  url: string;
  /** In order of arrival. */
  received: Received[];
  /** The next responses: a status, no response, or 202 with a body that never ends. Afterwards 202. */
  answers: (number | 'nothing' | 'half')[];
  stop(): Promise<void>;
};

/** Receives webhooks, and verifies them with the library that GitHub's users have. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const webhooks = new Webhooks({ secret: SECRET });
  const received: Received[] = [];
  const answers: WebhookReceiver['answers'] = [];
  const { origin, close } = await startHttpSite(async (request, response) => {
    const body = await text(request);
    const { headers } = request;
    received.push({
      event: String(headers['x-github-event']),
      id: String(headers['x-github-delivery']),
      verified: await webhooks.verify(body, String(headers['x-hub-signature-256'])),
      headers,
      body: JSON.parse(body),
    });
    const answer = answers.shift() ?? 202;
    if (answer === 'nothing') return;
    if (answer === 'half') response.writeHead(202).write('{');
    else response.writeHead(answer, answer === 302 ? { location: '/elsewhere' } : {}).end('{}');
  });
  return {
    url: `${origin}/webhooks/handbook/github?token=of-the-address`,
    received,
    answers,
    stop: close,
  };
}
