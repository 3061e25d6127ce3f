import { createHash } from 'node:crypto';
import type { SendMailOptions } from 'nodemailer';
import addressparser from 'nodemailer/lib/addressparser';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { type MailContent, renderHtml, renderText } from './mail-content.ts';

/** Who our mails are from: `smtp.from` of galley.yaml. */
export type Sender = { name: string; address: string; domain: string };

/** A message with its headers, to exactly one address. */
export type OutgoingMail = SendMailOptions & { messageId: string; envelope: { from: string; to: [string] } };

export type MailDraft = {
  sender: Sender;
  to: string;
  date: Date;
  subject: string;
  messageId: string;
  threadId: string | null;
  list: { name: string; id: string };
  unsubscribeLink: string | null;
  content: MailContent;
};

/**
 * Reads `smtp.from`, such as `Galley <galley@example.com>`.
 * @throws ConfigurationError where it isn't one address with a domain.
 */
export function readSender(from: string): Sender {
  const [first, ...others] = addressparser(from, { flatten: true });
  const domain = /^[^\s@]+@([a-z0-9.-]+)$/i.exec(first?.address ?? '')?.[1];
  if (first === undefined || domain === undefined || others.length > 0) {
    throw new ConfigurationError(['smtp.from: expected one sender such as "Galley <galley@example.com>"']);
  }
  return { name: first.name, address: first.address, domain: domain.toLowerCase() };
}

/** Puts a message together. The same draft always makes the same bytes, boundaries included. */
export function composeMail(draft: MailDraft): OutgoingMail {
  const { sender, to, date, subject, threadId, list, unsubscribeLink, content } = draft;
  return {
    from: { name: sender.name, address: sender.address },
    to: { name: '', address: to },
    // Said once more, so that no reading of the headers could ever add an address.
    envelope: { from: sender.address, to: [to] },
    subject,
    date,
    messageId: draft.messageId,
    ...(threadId === null ? {} : { inReplyTo: threadId, references: [threadId] }),
    headers: {
      'List-Id': prepared(`${quoted(list.name)} ${list.id}`),
      ...(unsubscribeLink === null ? {} : unsubscribeHeaders(unsubscribeLink)),
      // Nobody's out-of-office note should answer (RFC 3834; Exchange goes by a header of its own).
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
    },
    text: withMailLineEnds(renderText(content)),
    html: withMailLineEnds(renderHtml(content)),
    baseBoundary: createHash('sha256').update(draft.messageId).digest('hex').slice(0, 24),
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** One click in the mail program, which sends a POST (RFC 8058), or the page behind the link. */
function unsubscribeHeaders(link: string): Record<string, { prepared: true; value: string }> {
  return {
    'List-Unsubscribe': prepared(`<${link}>`),
    'List-Unsubscribe-Post': prepared('List-Unsubscribe=One-Click'),
  };
}

/** As mail has them (RFC 5322). Left to nodemailer's `newline`, they would be made after the message is held back. */
function withMailLineEnds(text: string): string {
  return text.replaceAll('\n', '\r\n');
}

/** Names of sites and rules are letters, digits and "-" (galley.yaml); the quotes are for the spaces between them. */
function quoted(text: string): string {
  return `"${text.replace(/[^\w .-]/g, '')}"`;
}

/** Written as it is: a link that were folded or encoded would lead nowhere. */
function prepared(value: string): { prepared: true; value: string } {
  return { prepared: true, value };
}
