import { composeMail, type OutgoingMail, plainLine, type Sender } from '../message/compose-mail.ts';
import { listId, messageId, threadId } from '../message/mail-identity.ts';

/** One mail to one operator. The Message-ID is made of `changeId`, `event` and `to`. */
type OperatorMail = {
  site: string;
  changeId: string;
  event: string;
  to: string;
  /** Whether more mails about the same `changeId` follow, such as the one that the failure is resolved. */
  isThread: boolean;
};

/** What only this mail says. All texts are plain. */
export type OperatorText = {
  subject: string;
  heading: string;
  lead: string;
  facts: { label: string; value: string; href?: string }[];
  /** Shown beside the subject. Default: the start of `error`. */
  preview?: string;
  /** The error message, shown line by line; undefined if nothing fails. */
  error?: string;
  paragraphs?: string[];
};

/** Composes a mail about a failure or its end, as all mails to operators look. */
export function composeOperatorMail(
  mail: OperatorMail,
  text: OperatorText,
  { sender, date }: { sender: Sender; date: Date },
): OutgoingMail {
  const { site, changeId, to, isThread } = mail;
  const lines = text.error === undefined ? [] : errorLines(text.error);
  return composeMail({
    sender,
    to,
    date,
    subject: `[${site}] ${text.subject}`,
    messageId: messageId(mail, sender.domain),
    threadId: isThread ? threadId(changeId, sender.domain) : null,
    list: { name: `Operators of ${site}`, id: listId({ site, rule: 'operators' }, sender.domain) },
    unsubscribeLink: null,
    content: {
      preview: text.preview ?? lines.join(' ').slice(0, 200),
      heading: text.heading,
      lead: text.lead,
      action: null,
      facts: text.facts.map((fact) => ({ href: null, ...fact })),
      output: lines,
      paragraphs: text.paragraphs ?? [],
      footer: 'You get this mail because galley.yaml lists you under operators.',
      stop: null,
    },
  });
}

/** The end of an error message usually holds the reason. */
const MAX_LINES = 30;
const MAX_LINE_CHARACTERS = 300;

/** A service's error message as lines for a mail; at least one. */
function errorLines(message: string): string[] {
  const lines = message.split(/\r\n|[\r\n\u2028\u2029]/).map((line) => plainLine(line, MAX_LINE_CHARACTERS));
  const reasons = lines.filter((line) => line !== '').slice(-MAX_LINES);
  return reasons.length === 0 ? ['The service gave no reason.'] : reasons;
}
