import type { NotificationEvent } from '../../contract/notification.ts';
import { plainLine } from '../mails/message/compose-mail.ts';

const MAX_TITLE = 150;
const MAX_ERROR = 400;

/**
 * The text of a message for Slack, or for a chat with Slack's webhook format.
 * @param siteUrl the page of the site; null if the receiver's public URL isn't known
 */
export function slackText(event: NotificationEvent, siteUrl: string | null): string {
  const page = siteUrl === null ? '' : ` (${link(siteUrl, 'site page')})`;
  return `*${foreign(event.data.site, MAX_TITLE)}*: ${sentence(event)}${page}`;
}

function sentence(event: NotificationEvent): string {
  switch (event.type) {
    case 'published': {
      const { title, url, publishes } = event.data;
      const others = publishes > 1 ? `, the newest of ${publishes} publishes` : '';
      return `an export of ${link(url, title || 'a publish')} begins${others}`;
    }
    case 'served': {
      const { version, jobId, rolledBack } = event.data;
      return `serves ${foreign(version ?? jobId, MAX_TITLE)}${rolledBack ? ' after a rollback' : ''}`;
    }
    case 'failed':
      return `not up to date since ${event.data.since}: ${foreign(event.data.error, MAX_ERROR)}`;
    case 'recovered':
      return `up to date again, after it failed since ${event.data.since}`;
    case 'pull-request': {
      const { title, url, action, rule } = event.data;
      return `the pull request ${link(url, title || url)} of the rule ${foreign(rule, MAX_TITLE)} was ${action}`;
    }
  }
}

/** A link, or only its label if the URL isn't one that Slack links. */
function link(url: string, label: string): string {
  const text = foreign(label, MAX_TITLE);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return text;
  // The parser leaves "|" as it is, which would end the URL.
  return `<${escapeSlack(new URL(url).href.replaceAll('|', '%7C'))}|${text.replaceAll('|', '¦')}>`;
}

/** Text from outside: one line, escaped. A zero-width space keeps it from mentioning anyone in chats other than Slack. */
function foreign(text: string, maxCharacters: number): string {
  return escapeSlack(plainLine(text, maxCharacters)).replaceAll('@', '@\u200b');
}

/** https://docs.slack.dev/messaging/formatting-message-text/#escaping */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
