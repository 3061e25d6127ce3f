import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { Webhooks } from '@octokit/webhooks';

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
  /** In the order in which they came. */
  received: Received[];
  /** How each of the next deliveries is answered: a status, nothing at all, or 202 and a body that never ends; then 202. */
  answers: (number | 'nothing' | 'half')[];
  stop(): Promise<void>;
};

/** Takes webhooks as a server elsewhere does, and verifies them with the library that GitHub's users have. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const webhooks = new Webhooks({ secret: SECRET });
  const received: Received[] = [];
  const answers: WebhookReceiver['answers'] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const { headers } = request;
    received.push({
      event: String(headers['x-github-event']),
      id: String(headers['x-github-delivery']),
      verified: await webhooks.verify(text, String(headers['x-hub-signature-256'])),
      headers,
      body: JSON.parse(text),
    });
    const answer = answers.shift() ?? 202;
    if (answer === 'nothing') return;
    if (answer === 'half') response.writeHead(202).write('{');
    else response.writeHead(answer, answer === 302 ? { location: '/elsewhere' } : {}).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/webhooks/handbook/github?token=of-the-address`,
    received,
    answers,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
