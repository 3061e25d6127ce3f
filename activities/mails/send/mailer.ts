import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import nodemailer from 'nodemailer';
import { type OutgoingMail, readSender, type Sender } from '../message/compose-mail.ts';
import { answerText, type MailDelivery, readMailFailure } from './delivery.ts';

/** Long enough for servers that delay their greeting; failures are retried anyway. */
const CONNECTION_TIMEOUT_MS = 10_000;
const GREETING_TIMEOUT_MS = 20_000;

/** A connection that is silent for this long counts as lost. Some servers scan a message before they respond. */
const SOCKET_TIMEOUT_MS = 120_000;

/** Servers close idle connections after minutes. Closing first means that none breaks in the middle of a mail. */
const IDLE_TIMEOUT_MS = 30_000;

/** Mail services commonly allow one client this many. */
const CONNECTIONS = 5;

type MailerOptions = {
  /** `smtp://` (STARTTLS if the server offers it) or `smtps://`, with user and password if needed. */
  url: string;
  /** The `From` header, such as `Galley <galley@example.com>`. */
  from: string;
  socketTimeoutMs?: number;
};

export type DeliveryOptions = {
  /** Awaited before the message's last line is sent; if it rejects, nothing is sent. */
  beforeLastLine: () => Promise<void>;
  /** Ends the attempt unless the last line is already out. */
  unlessReleased: AbortSignal;
  /** Ends the attempt in any case; after the last line, the outcome is unknown. */
  anyway: AbortSignal;
};

export type Mailer = {
  sender: Sender;
  /** Sends one message. Never rejects: the result holds the error. */
  deliver(mail: OutgoingMail, options: DeliveryOptions): Promise<MailDelivery>;
  /** Closes the connections, including those in use. */
  close(): void;
};

/**
 * Makes a mailer over a pool of connections.
 * @throws ConfigurationError if `from` can't be parsed.
 */
export function createMailer({ url, from, socketTimeoutMs = SOCKET_TIMEOUT_MS }: MailerOptions): Mailer {
  const sender = readSender(from);
  const transport = nodemailer.createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS,
    // The pool would resend a message if its connection broke. Only send-once.ts decides that.
    maxRequeues: 0,
    idleTimeout: IDLE_TIMEOUT_MS,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    greetingTimeout: GREETING_TIMEOUT_MS,
    dnsTimeout: CONNECTION_TIMEOUT_MS,
    socketTimeout: socketTimeoutMs,
    ...(needsTls(url) ? { requireTLS: true } : {}),
  });

  // Plugins only see the message that nodemailer made; its signal identifies ours.
  const holds = new WeakMap<AbortSignal, (source: Readable) => HeldMessage>();
  transport.use('stream', (mail, done) => {
    const hold = mail.data.signal && holds.get(mail.data.signal);
    if (hold === undefined) return done(new Error('the message was sent without its hold'));
    mail.message.processFunc(hold);
    done();
  });

  async function deliver(mail: OutgoingMail, options: DeliveryOptions): Promise<MailDelivery> {
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
      return { kind: 'unsent', reason: 'the mail server responded before it had the message' };
    } catch (error) {
      return readMailFailure(error, isReleased());
    } finally {
      options.anyway.removeEventListener('abort', stopAnyway);
      options.unlessReleased.removeEventListener('abort', stopUnlessReleased);
      // The attempt has ended, so the last line must not be sent any more.
      if (!isReleased()) held?.destroy();
    }
  }

  return { sender, deliver, close: () => transport.close({ force: true }) };
}

/** A password needs TLS unless the server is local or the URL says otherwise (`?requireTLS=false`). */
function needsTls(url: string): boolean {
  const { protocol, password, hostname, searchParams } = new URL(url);
  const isLocal =
    hostname === 'localhost' || (isIP(hostname) === 4 && hostname.startsWith('127.')) || hostname === '[::1]';
  return protocol === 'smtp:' && password !== '' && !isLocal && !searchParams.has('requireTLS');
}

/**
 * A message that stops before its last line until permission is given. Without that line and the final dot, the server
 * doesn't have the message: if the connection ends before, nothing was sent (RFC 5321, 4.1.1.4). Nodemailer starts to
 * read after the response to DATA, so permission is requested as late as possible.
 */
class HeldMessage extends Readable {
  readonly #source: Readable;
  readonly #permission: () => Promise<void>;
  #started = false;
  #released = false;

  /** @param permission rejects if the message must not be sent; its reason destroys the stream. */
  constructor(source: Readable, permission: () => Promise<void>) {
    super();
    this.#source = source;
    this.#permission = permission;
  }

  /** True once the last line may have been sent. Never becomes false again. */
  get released(): boolean {
    return this.#released;
  }

  override _read(): void {
    if (this.#started) return;
    this.#started = true;
    this.#run().catch((error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#source.destroy();
    done(error);
  }

  async #run(): Promise<void> {
    const message = await buffer(this.#source);
    const lastLine = message.lastIndexOf('\n', message.length - 2) + 1;
    this.push(message.subarray(0, lastLine));
    await this.#permission();
    // If the connection has closed meanwhile, the last line certainly wasn't sent.
    if (this.destroyed) return;
    this.#released = true;
    this.push(message.subarray(lastLine));
    this.push(null);
  }
}
