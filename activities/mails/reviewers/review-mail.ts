import type { PublishEvent } from '../../../contract/publish-event.ts';
import type { ReviewMailInput } from '../mail-input.ts';
import { composeMail, type OutgoingMail, plainLine, type Sender } from '../message/compose-mail.ts';
import type { MailContent } from '../message/mail-content.ts';
import { listId, messageId, threadId } from '../message/mail-identity.ts';

type ReviewMailContext = {
  sender: Sender;
  date: Date;
  unsubscribeLink: string | null;
  reviewLink?: string | null;
};

/**
 * Composes the mail that requests a review, or a reminder.
 * @param date when it was first meant to be sent: every attempt sends the same bytes.
 * @param unsubscribeLink null if the receiver has no public URL.
 * @param reviewLink lets this reviewer act on the pull request; null if its page needs an account.
 */
export function composeReviewMail(
  input: ReviewMailInput,
  { sender, date, unsubscribeLink, reviewLink = null }: ReviewMailContext,
): OutgoingMail {
  const { site, rule, pullRequest, to } = input;
  return composeMail({
    sender,
    to,
    date,
    // The same for all mails of a pull request, because mail programs thread by subject.
    subject: `[${site}] ${plainLine(pullRequest.title, 120)}`,
    messageId: messageId(input, sender.domain),
    threadId: threadId(pullRequest.url, sender.domain),
    list: { name: `${rule} of ${site}`, id: listId({ site, rule }, sender.domain) },
    unsubscribeLink,
    content: contentOf(input, { date, unsubscribeLink, reviewLink }),
  });
}

function contentOf(
  input: ReviewMailInput,
  { date, unsubscribeLink, reviewLink }: { date: Date; unsubscribeLink: string | null; reviewLink: string | null },
): MailContent {
  const { site, rule, to, pullRequest, publish, eventCount } = input;
  const title = plainLine(pullRequest.title, 200);
  const url = webLink(reviewLink ?? pullRequest.url);
  return {
    ...openingOf(input, date),
    action: url === null ? null : { title, url, label: 'Review the pull request' },
    facts: [
      ...publishFacts(publish),
      ...(eventCount > 1 ? [{ label: 'Together with', value: more(eventCount - 1), href: null }] : []),
    ],
    output: outputLines(input.followUp?.said ?? ''),
    paragraphs: [
      `The rule “${rule}” of the site “${site}” passed this to its coding agent, which changed files and opened the pull request. Nothing is merged until someone approves and merges it.`,
      ...(reviewLink === null
        ? []
        : [
            `This link is personal: anyone who opens it can approve and merge as ${plainLine(to, 254)}. Don’t forward this mail.`,
          ]),
    ],
    footer: `You get this mail because the rule “${rule}” of “${site}” names you as a reviewer, or because you own files that changed.`,
    stop: unsubscribeLink === null ? null : { label: 'Stop these mails', url: unsubscribeLink },
  };
}

/** The agent's last words, which the workflow has cut already. */
function outputLines(said: string): string[] {
  return said.split('\n').flatMap((line) => plainLine(line, 300) || []);
}

function openingOf(input: ReviewMailInput, date: Date): Pick<MailContent, 'preview' | 'heading' | 'lead'> {
  const { event, publish, requestedAt } = input;
  const what = titleOf(publish);
  if (input.followUp !== undefined) return followUpOpening(input.followUp);
  if (event === 'review-requested') {
    return {
      preview: `${verbOf(publish)}: ${what}`,
      heading: 'A pull request awaits your review',
      lead: 'A coding agent proposes changes after a publish. Please review them.',
    };
  }
  const since = requestedAt ?? publish.at;
  const waited = timeBetween(since, date);
  return {
    preview: `Waiting${waited === null ? '' : ` for ${waited}`}: ${what}`,
    heading: 'This pull request still awaits a review',
    lead: `It has been waiting ${waited === null ? '' : `for ${waited}, `}since ${dayAndTime(since)}. Please have a look, or close it if it isn’t wanted.`,
  };
}

function followUpOpening({
  reviewer,
  reason,
}: NonNullable<ReviewMailInput['followUp']>): Pick<MailContent, 'preview' | 'heading' | 'lead'> {
  const who = plainLine(reviewer, 200);
  if (reason === null) {
    const heading = 'The agent has worked on a review';
    const lead = `${who} requested changes, and the coding agent has answered. Please review the pull request again. If the agent printed anything, its last lines are below.`;
    return { preview: `The agent answers ${who}`, heading, lead };
  }
  return {
    preview: `A person is needed: ${plainLine(reason, 150)}`,
    heading: 'This pull request needs a person',
    lead: `${who} requested changes, but the coding agent can’t make them: ${plainLine(reason, 500)}. Please make them yourself on the pull request’s branch, or close it.`,
  };
}

function publishFacts(publish: PublishEvent): MailContent['facts'] {
  const who = plainLine(publish.author, 100);
  const source = plainLine(publish.source, 40);
  const when = [dayAndTime(publish.at), ...(who === '' ? [] : [`by ${who}`]), `through ${source}`].join(', ');
  const link = webLink(publish.url);
  const url = plainLine(publish.url, 300);
  return [
    { label: verbOf(publish), value: titleOf(publish), href: link },
    // If it isn't a web URL, show it without a link.
    ...(link === null && url !== '' ? [{ label: 'Where', value: url, href: null }] : []),
    { label: 'When', value: when, href: null },
  ];
}

function titleOf({ title, id }: PublishEvent): string {
  return plainLine(title, 200) || plainLine(id, 200) || 'an entry without a title';
}

function verbOf({ action }: PublishEvent): string {
  switch (action) {
    case 'publish':
      return 'Published';
    case 'unpublish':
      return 'Unpublished';
    case 'other':
      return 'Changed';
  }
}

function more(count: number): string {
  return count === 1 ? 'one event before it' : `${count} events before it`;
}

/** The URL if it is http(s); null otherwise, so that callers show it as text or not at all. */
function webLink(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
}

const FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/**
 * "21 November 2026 at 11:30 UTC", with the zone because readers are in many; the original text if it can't be parsed.
 */
function dayAndTime(timestamp: string): string {
  const ms = Date.parse(timestamp);
  return Number.isNaN(ms) ? plainLine(timestamp, 60) || 'an unknown time' : `${FORMAT.format(ms)} UTC`;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** "2 days" or "5 hours", rounded down; null for less than an hour or an unreadable time. */
function timeBetween(timestamp: string, now: Date): string | null {
  const passedMs = now.getTime() - Date.parse(timestamp);
  if (passedMs >= 2 * DAY_MS) return `${Math.floor(passedMs / DAY_MS)} days`;
  if (passedMs >= 2 * HOUR_MS) return `${Math.floor(passedMs / HOUR_MS)} hours`;
  return passedMs >= HOUR_MS ? 'an hour' : null;
}
