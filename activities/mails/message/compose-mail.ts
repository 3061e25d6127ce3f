import type { SendMailOptions } from 'nodemailer';
import addressparser from 'nodemailer/lib/addressparser';
import { sha256Hex } from '../../../base/sha256.ts';
import { ConfigurationError } from '../../../contract/configuration-error.ts';
import { type MailContent, renderHtml, renderText } from './mail-content.ts';

/** The sender of all mails: `smtp.from` of galley.yaml. */
export type Sender = { name: string; address: string; domain: string };

/** A message with its headers, to exactly one address. */
export type OutgoingMail = SendMailOptions & { messageId: string; envelope: { from: string; to: [string] } };

type MailDraft = {
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
 * Parses `smtp.from`, such as `Galley <galley@example.com>`.
 * @throws ConfigurationError if it isn't one address with a domain.
 */
export function readSender(from: string): Sender {
  const [first, ...others] = addressparser(from, { flatten: true });
  const domain = /^[^\s@]+@([a-z0-9.-]+)$/i.exec(first?.address ?? '')?.[1];
  if (first === undefined || domain === undefined || others.length > 0) {
    throw new ConfigurationError(['smtp.from: expected one sender such as "Galley <galley@example.com>"']);
  }
  return { name: first.name, address: first.address, domain: domain.toLowerCase() };
}

/** Composes a message. The same draft always gives the same bytes, including boundaries. */
export function composeMail(draft: MailDraft): OutgoingMail {
  const { sender, to, date, subject, threadId, list, unsubscribeLink, content } = draft;
  return {
    from: { name: sender.name, address: sender.address },
    to: { name: '', address: to },
    // Set explicitly, so that no header can ever add a recipient.
    envelope: { from: sender.address, to: [to] },
    subject,
    date,
    messageId: draft.messageId,
    ...(threadId === null ? {} : { inReplyTo: threadId, references: [threadId] }),
    headers: {
      'List-Id': prepared(`${quoted(list.name)} ${list.id}`),
      ...(unsubscribeLink === null ? {} : unsubscribeHeaders(unsubscribeLink)),
      // Prevents out-of-office replies (RFC 3834; Exchange has its own header).
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
    },
    text: withMailLineEnds(renderText(content)),
    html: withMailLineEnds(renderHtml(content)),
    baseBoundary: sha256Hex(draft.messageId).slice(0, 24),
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Unsubscribing is one click in the mail program, which sends a POST (RFC 8058), or the page behind the link. */
function unsubscribeHeaders(link: string): Record<string, { prepared: true; value: string }> {
  return {
    'List-Unsubscribe': prepared(`<${link}>`),
    'List-Unsubscribe-Post': prepared('List-Unsubscribe=One-Click'),
  };
}

/** CRLF (RFC 5322). Nodemailer's `newline` would convert only after the message is held back. */
function withMailLineEnds(text: string): string {
  return text.replaceAll('\n', '\r\n');
}

/** Names of sites and rules are letters, digits and "-" (galley.yaml); the quotes are for the spaces between them. */
function quoted(text: string): string {
  return `"${text.replace(/[^\w .-]/g, '')}"`;
}

/** Prevents folding and encoding, which would break the link. */
function prepared(value: string): { prepared: true; value: string } {
  return { prepared: true, value };
}

/**
 * Titles, names and errors come from a CMS, a forge or a mail server, so anyone may have written them. They are shown
 * as a single line of visible characters.
 */

const CHARACTERS = new Intl.Segmenter('en');

/**
 * One line of at most `maxCharacters` graphemes. Line breaks and other control characters become a space. Characters
 * that are invisible or change the reading direction are dropped, so that a title can't imitate another; joiners stay,
 * because emoji and several scripts need them.
 */
export function plainLine(text: string, maxCharacters: number): string {
  // Cut very long text first: counting graphemes is slow.
  const line = wellFormed(text.slice(0, maxCharacters * 12))
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/(?![\u200c\u200d])[\p{Cf}\p{Co}\p{Cn}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
  const characters: string[] = [];
  for (const { segment } of CHARACTERS.segment(line)) {
    if (characters.push(segment) > maxCharacters)
      return `${characters
        .slice(0, maxCharacters - 1)
        .join('')
        .trimEnd()}…`;
  }
  return line;
}

/** Replaces half of a surrogate pair, which can't be encoded, with U+FFFD. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
