import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startHttpSite } from './http-site.ts';

export type ReceivedNotification = { headers: IncomingHttpHeaders; body: string };

/** An HTTP server that records each notification and responds through `answer`, by default with 200. */
export type NotificationReceiver = {
  /** Its path is a secret, as in Slack's URLs. */
  url: string;
  received: ReceivedNotification[];
  /** The JSON bodies received so far. */
  bodies(): unknown[];
  answer: (response: ServerResponse, notification: ReceivedNotification) => unknown;
  close(): Promise<void>;
};

export const SECRET_PATH = '/services/T0000/B0000/secretsecretsecret';

export async function startNotificationReceiver(): Promise<NotificationReceiver> {
  const site = await startHttpSite(async (request, response) => {
    const notification = { headers: request.headers, body: await text(request) };
    receiver.received.push(notification);
    await receiver.answer(response, notification);
  });
  const receiver: NotificationReceiver = {
    url: `${site.origin}${SECRET_PATH}`,
    received: [],
    bodies: () => receiver.received.map(({ body }) => JSON.parse(body)),
    answer: (response) => response.end('ok'),
    close: site.close,
  };
  return receiver;
}
