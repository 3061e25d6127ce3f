import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { WORKFLOW_IDS } from '../../contract/names.ts';
import type { NotificationInput } from './send-notification.ts';
import { slackText } from './slack-text.ts';
import type { Target } from './targets.ts';

export type Message = { headers: Record<string, string>; body: string };

/**
 * The request for one target.
 * @param publicUrl the receiver's public URL, for links to the page of the site
 * @param now signed as the time of the attempt
 */
export function composeMessage(
  { site, event }: Pick<NotificationInput, 'site' | 'event'>,
  { target, publicUrl, now }: { target: Target; publicUrl: string | undefined; now: Date },
): Message {
  const siteUrl = publicUrl === undefined ? null : `${publicUrl}/ui/sites/${site}`;
  if (target.kind === 'slack') return jsonMessage({ text: slackText(event, siteUrl) });
  const { type, at, data } = event;
  const message = jsonMessage({ type, timestamp: at, data: siteUrl === null ? data : { ...data, siteUrl } });
  const id = webhookId(WORKFLOW_IDS.notification(site, event.id, target.hash));
  const signatures = target.secrets.map((secret) => new Webhook(secret).sign(id, now, message.body));
  const headers = {
    ...message.headers,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  };
  return { headers, body: message.body };
}

/** The same in every attempt, so that receivers can drop what they already have. */
function webhookId(workflowId: string): string {
  return `msg_${createHash('sha256').update(workflowId).digest('hex').slice(0, 32)}`;
}

function jsonMessage(body: object): Message {
  return {
    headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'Galley' },
    body: JSON.stringify(body),
  };
}
