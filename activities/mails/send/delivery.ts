import { plainLine } from '../message/compose-mail.ts';

/** The outcome of one attempt to hand a message to a mail server. */
export type MailDelivery =
  /** The server has accepted it. */
  | { kind: 'accepted'; answer: string }
  /** The server rejected it, temporarily or (`permanent`) for good. */
  | { kind: 'refused'; permanent: boolean; answer: string }
  /** It certainly wasn't sent: the last line never went out. */
  | { kind: 'unsent'; reason: string }
  /** The last line went out and no response came back. */
  | { kind: 'unknown'; reason: string };

const MAX_ANSWER_CHARACTERS = 300;

/** A server's response as the state shows it. */
export function answerText(text: string): string {
  return plainLine(text, MAX_ANSWER_CHARACTERS);
}

/**
 * In these steps the response is about this message. Earlier ones are about the connection and may be fixed (a
 * password, a certificate).
 */
const ABOUT_THE_MESSAGE = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);

/** 503: the session was out of step. 530 to 538: authentication failed. Neither is about the message. */
const ABOUT_THE_SESSION = new Set([503, 530, 534, 535, 538]);

/**
 * Interprets nodemailer's error. Only a 4xx or 5xx response is a rejection; anything else that ends a connection isn't
 * about the message.
 * @param released whether the message's last line may have gone out.
 */
export function readMailFailure(error: unknown, released: boolean): Exclude<MailDelivery, { kind: 'accepted' }> {
  const read = (name: string): unknown =>
    typeof error === 'object' && error !== null ? Reflect.get(error, name) : null;
  const reason = answerText(String(read('message') ?? error));
  const status = Number(read('responseCode') ?? 0);
  const isAnswer = status >= 400 && status < 600;
  // Once the last line is out, only the response to it counts (EMESSAGE), not a 421 on a closing connection.
  const isRefusal = released
    ? read('code') === 'EMESSAGE'
    : ABOUT_THE_MESSAGE.has(String(read('command'))) && !ABOUT_THE_SESSION.has(status);
  if (isAnswer && isRefusal) {
    const permanent = status >= 500 && !ABOUT_THE_SESSION.has(status);
    return { kind: 'refused', permanent, answer: answerText(String(read('response') ?? reason)) };
  }
  return { kind: released ? 'unknown' : 'unsent', reason };
}
