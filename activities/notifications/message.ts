import { WORKFLOW_IDS } from '../../contract/names.ts';
import type { NotificationInput } from './send-notification.ts';
import { jsonMessage, type OutgoingMessage, signMessage } from './sign-message.ts';
import { slackText } from './slack-text.ts';
import type { ConfiguredTarget } from './targets.ts';

/**
 * The request for one target.
 * @param publicUrl the receiver's public URL, for links to the page of the site
 * @param now signed as the time of the attempt
 */
export function composeMessage(
  { site, event }: Pick<NotificationInput, 'site' | 'event'>,
  { target, publicUrl, now }: { target: ConfiguredTarget; publicUrl: string | undefined; now: Date },
): OutgoingMessage {
  const siteUrl = publicUrl === undefined ? null : `${publicUrl}/ui/sites/${site}`;
  if (target.kind === 'slack') return jsonMessage({ text: slackText(event, siteUrl) });
  const { type, at, data } = event;
  return signMessage(
    { type, timestamp: at, data: siteUrl === null ? data : { ...data, siteUrl } },
    { identity: WORKFLOW_IDS.notification(site, event.id, target.hash), secrets: target.secrets, now },
  );
}
