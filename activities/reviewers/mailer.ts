import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import nodemailer from 'nodemailer';
import { type OutgoingMail, readSender, type Sender } from './compose-mail.ts';
import { answerText, type Delivery, readFailure } from './delivery.ts';
import { HeldMessage } from './held-message.ts';

/** Long enough for servers that greet slowly on purpose; what fails is tried again anyway. */
const CONNECTION_TIMEOUT_MS = 10_000;
const GREETING_TIMEOUT_MS = 20_000;

/** Silence after which a connection counts as lost. Some servers look through a message before they answer it. */
const SOCKET_TIMEOUT_MS = 120_000;

/** Servers end idle connections after minutes; one that we end ourselves never breaks in the middle of a mail. */
const IDLE_TIMEOUT_MS = 30_000;

/** As many as mail services commonly allow one client. */
const CONNECTIONS = 5;

export type MailerOptions = {
  /** `smtp://` (STARTTLS where the server offers it) or `smtps://`, with user and password where they are needed. */
  url: string;
  /** As in a mail's From, such as `Galley <galley@example.com>`. */
  from: string;
  socketTimeoutMs?: number;
};

export type DeliveryOptions = {
  /** Awaited before the message's last line goes out; where it rejects, nothing is sent. */
  beforeLastLine: () => Promise<void>;
  /** Ends the attempt as long as the last line isn't out; has no effect after that. */
  unlessReleased: AbortSignal;
  /** Ends the attempt whatever it does: after the last line, its outcome is unknown. */
  anyway: AbortSignal;
};

export type Mailer = {
  sender: Sender;
  /** Hands one message over. Never rejects: what went wrong is the answer. */
  deliver(mail: OutgoingMail, options: DeliveryOptions): Promise<Delivery>;
  /** Ends the connections; deliveries under way end with them. */
  close(): void;
};

/**
 * Makes the way to the mail server, over a pool of connections.
 * @throws ConfigurationError where `from` can't be read.
 */
export function createMailer({ url, from, socketTimeoutMs = SOCKET_TIMEOUT_MS }: MailerOptions): Mailer {
  const sender = readSender(from);
  const transport = nodemailer.createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS,
    // The pool would send a message again whose connection broke. That is decided in one place only, and not there.
    maxRequeues: 0,
    idleTimeout: IDLE_TIMEOUT_MS,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    greetingTimeout: GREETING_TIMEOUT_MS,
    dnsTimeout: CONNECTION_TIMEOUT_MS,
    socketTimeout: socketTimeoutMs,
    ...(needsTls(url) ? { requireTLS: true } : {}),
  });

  // A plugin sees a message only as nodemailer made it: by its signal it is found again here.
  const holds = new WeakMap<AbortSignal, (source: Readable) => HeldMessage>();
  transport.use('stream', (mail, done) => {
    const hold = mail.data.signal && holds.get(mail.data.signal);
    if (hold === undefined) return done(new Error('a message that nobody holds back'));
    mail.message.processFunc(hold);
    done();
  });

  async function deliver(mail: OutgoingMail, options: DeliveryOptions): Promise<Delivery> {
    const aborter = new AbortController();
    const { signal } = aborter;
    let held: HeldMessage | undefined;
    holds.set(signal, (source) => {
      held = new HeldMessage(source, options.beforeLastLine);
      return held;
    });
    const isReleased = (): boolean => held?.released === true;
    const stopAnyway = (): void => aborter.abort();
    const stopUnlessReleased = (): void => {
      if (!isReleased()) aborter.abort();
    };
    options.anyway.addEventListener('abort', stopAnyway);
    options.unlessReleased.addEventListener('abort', stopUnlessReleased);
    if (options.anyway.aborted || options.unlessReleased.aborted) aborter.abort();
    try {
      const { response = '' } = await transport.sendMail({ ...mail, signal });
      if (isReleased()) return { kind: 'accepted', answer: answerText(response) };
      return { kind: 'unsent', reason: 'the mail server answered before it had the message' };
    } catch (error) {
      return readFailure(error, isReleased());
    } finally {
      options.anyway.removeEventListener('abort', stopAnyway);
      options.unlessReleased.removeEventListener('abort', stopUnlessReleased);
      // From here on the answer stands, so the last line mustn't follow it.
      if (!isReleased()) held?.destroy();
    }
  }

  return { sender, deliver, close: () => transport.close({ force: true }) };
}

/** A password is sent over an open network only where the address says so (`?requireTLS=false`). */
function needsTls(url: string): boolean {
  const { protocol, password, hostname, searchParams } = new URL(url);
  const isLocal =
    hostname === 'localhost' || (isIP(hostname) === 4 && hostname.startsWith('127.')) || hostname === '[::1]';
  return protocol === 'smtp:' && password !== '' && !isLocal && !searchParams.has('requireTLS');
}
