import type { MailDelivery } from '../../../../activities/mails/send/delivery.ts';
import { createMailer, type DeliveryOptions, type Mailer } from '../../../../activities/mails/send/mailer.ts';
import {
  at,
  lastLines,
  type React,
  type ScriptedSmtpServer,
  type SmtpReaction,
  type SmtpStage,
  startScriptedSmtp,
} from '../../../helpers/smtp-server.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';
import { closing, deliver } from './deliver.ts';

/** Short, because a test waits for all of it. */
const SILENCE = { socketTimeoutMs: 2_000 };

/** The mailer waits for a silent server only where a test is about that. */
async function connect(
  react?: React,
  { socketTimeoutMs = 60_000 } = {},
): Promise<{ server: ScriptedSmtpServer; mailer: Mailer }> {
  const server = await startScriptedSmtp(react);
  const mailer = createMailer({ url: server.url, from: 'Galley <galley@example.com>', socketTimeoutMs });
  closing.push(
    () => server.close(),
    () => mailer.close(),
  );
  return { server, mailer };
}

/** Delivers a mail whose last line is permitted only once the outcome is known; then another one arrives whole. */
async function deliverPermittedLate(
  { server, mailer }: { server: ScriptedSmtpServer; mailer: Mailer },
  options: Partial<DeliveryOptions> = {},
): Promise<MailDelivery> {
  let permit = (): void => undefined;
  const permission = new Promise<void>((resolve) => {
    permit = resolve;
  });
  const delivery = await deliver(mailer, { beforeLastLine: () => permission, ...options });
  permit();
  const next = createMailer({ url: server.url, from: 'galley@example.com' });
  closing.push(() => next.close());
  expect(await deliver(next)).toMatchObject({ kind: 'accepted' });
  return delivery;
}

describe('a mail that the server accepts', () => {
  it("is reported with the server's response, and arrives completely", async () => {
    const { server, mailer } = await connect();
    expect(await deliver(mailer)).toEqual({ kind: 'accepted', answer: '250 2.0.0 queued as 4711' });
    expect(server.taken).toEqual([expect.objectContaining({ from: 'galley@example.com', to: ['ops@example.com'] })]);
    expect(server.taken[0]?.data).toMatch(/--\r\n$/);
  });

  it('shares a connection with the previous mail', async () => {
    const { server, mailer } = await connect();
    await deliver(mailer);
    await deliver(mailer);
    expect(server.taken.map(({ connection }) => connection)).toEqual([1, 1]);
  });

  it('asks for permission only after the server has asked for the message', async () => {
    const { server, mailer } = await connect();
    let stages: SmtpStage[] = [];
    await deliver(mailer, {
      beforeLastLine: async () => {
        await waitFor(() => server.moments.some(({ stage }) => stage === 'body'), { describe: 'got the first lines' });
        stages = server.moments.map(({ stage }) => stage);
      },
    });
    expect(stages).toEqual(['connect', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'body']);
    expect(server.moments.at(-1)?.stage).toBe('end');
  });
});

describe('a rejection', () => {
  it.each<[SmtpStage, string, boolean]>([
    ['MAIL', '450 4.7.1 greylisted', false],
    ['MAIL', '550 5.1.8 sender unknown', true],
    ['RCPT', '451 4.3.0 try later', false],
    ['RCPT', '452 4.2.2 mailbox full', false],
    ['RCPT', '550 5.1.1 no such user', true],
    ['RCPT', '553 5.1.3 bad address', true],
    ['DATA', '451 4.3.0 no room', false],
    ['DATA', '554 5.7.1 no', true],
    ['end', '451 4.7.0 scanner away', false],
    ['end', '421 4.3.2 shutting down', false],
    ['end', '550 5.7.1 looks like spam', true],
  ])('to %s, %s, is definite', async (stage, answer, permanent) => {
    const { server, mailer } = await connect(at(stage, { answer }));
    expect(await deliver(mailer)).toEqual({ kind: 'refused', permanent, answer });
    expect(server.taken).toEqual([]);
    // The rejection only affects this mail. The next one is sent.
    expect(await deliver(mailer)).toMatchObject({ kind: 'accepted' });
  });

  it('in the middle of the message prevents the last line', async () => {
    const { server, mailer } = await connect(at('body', { answer: '552 5.3.4 too large' }));
    const delivery = await deliverPermittedLate({ server, mailer });
    expect(delivery).toEqual({ kind: 'refused', permanent: true, answer: '552 5.3.4 too large' });
    expect(lastLines(server)).toBe(1);
  });
});

describe('a mail is definitely not sent', () => {
  it.each<[string, SmtpStage, SmtpReaction]>([
    ['the server turns us away', 'connect', { answer: '554 no service' }],
    ['the server is about to stop', 'connect', { answer: '421 stopping', cut: true }],
    ['the connection ends before the greeting', 'connect', { cut: true }],
    ['the connection ends before MAIL', 'EHLO', { cut: true }],
    ['the connection ends after MAIL', 'MAIL', { cut: true }],
    ['the connection ends after RCPT', 'RCPT', { cut: true }],
    ['the server wants a login', 'MAIL', { answer: '530 5.7.0 authentication required' }],
    ['the connection ends at DATA', 'DATA', { cut: true }],
    ['the server says nothing to MAIL', 'MAIL', { hang: true }],
  ])('if %s', async (_, stage, reaction) => {
    const { server, mailer } = await connect(at(stage, reaction), reaction.hang ? SILENCE : {});
    expect(await deliver(mailer)).toMatchObject({ kind: 'unsent' });
    expect(server.taken).toEqual([]);
    expect(lastLines(server)).toBe(0);
  });

  it.each<[string, SmtpReaction, RegExp]>([
    ['the connection ends while permission is asked for', { cut: true }, /./],
    ['the server says 250 before it has the message', { answer: '250 enough' }, /before it had the message/],
  ])('if %s', async (_, reaction, reason) => {
    const { server, mailer } = await connect(at('body', reaction));
    const delivery = await deliverPermittedLate({ server, mailer });
    expect(delivery).toEqual({ kind: 'unsent', reason: expect.stringMatching(reason) });
    expect(lastLines(server)).toBe(1);
  });

  it('if permission is refused, and the server has no message from the half that it got', async () => {
    const { server, mailer } = await connect();
    const delivery = await deliver(mailer, { beforeLastLine: () => Promise.reject(new Error('Temporal is down')) });
    expect(delivery).toEqual({ kind: 'unsent', reason: 'Temporal is down' });
    expect(server.taken).toEqual([]);
    expect(await deliver(mailer)).toMatchObject({ kind: 'accepted' });
    expect(server.taken).toHaveLength(1);
  });

  it('if nothing listens', async () => {
    const { server, mailer } = await connect();
    await server.close();
    expect(await deliver(mailer)).toMatchObject({ kind: 'unsent', reason: expect.stringContaining('ECONNREFUSED') });
  });

  it('if time is up before the greeting', async () => {
    const timeout = new AbortController();
    const { server, mailer } = await connect(({ stage }) => {
      if (stage === 'connect') timeout.abort();
      return { hang: true };
    });
    expect(await deliver(mailer, { unlessReleased: timeout.signal })).toMatchObject({ kind: 'unsent' });
    expect(lastLines(server)).toBe(0);
  });

  it('if time is up before the last line', async () => {
    const timeout = new AbortController();
    const { server, mailer } = await connect(({ stage, time }) => {
      if (stage === 'body' && time === 1) timeout.abort();
      return undefined;
    });
    const delivery = await deliverPermittedLate({ server, mailer }, { unlessReleased: timeout.signal });
    expect(delivery).toMatchObject({ kind: 'unsent' });
    expect(lastLines(server)).toBe(1);
  });
});

describe('the outcome is unknown', () => {
  it.each<[string, SmtpReaction]>([
    ['the connection ends after the last line', { cut: true }],
    ['the connection ends after the last line and the mail is taken', { cut: true, taken: true }],
    ['the server says nothing after the last line', { hang: true }],
    ['the server says something that isn’t an answer', { answer: '354 more please' }],
  ])('if %s', async (_, reaction) => {
    const { server, mailer } = await connect(at('end', reaction), reaction.hang ? SILENCE : {});
    expect(await deliver(mailer)).toMatchObject({ kind: 'unknown' });
    // The pool would have sent it again before the next one.
    expect(await deliver(mailer)).toMatchObject({ kind: 'accepted' });
    expect(lastLines(server)).toBe(2);
  });

  it('if a stop interrupts the wait for the response', async () => {
    const stopped = new AbortController();
    const { mailer } = await connect((moment) => {
      if (moment.stage !== 'end') return undefined;
      stopped.abort();
      return { hang: true };
    });
    expect(await deliver(mailer, { anyway: stopped.signal })).toMatchObject({ kind: 'unknown' });
  });

  it('but a graceful stop waits for the response', async () => {
    const stopped = new AbortController();
    const { mailer } = await connect(({ stage }) => {
      if (stage === 'end') stopped.abort();
      return undefined;
    });
    expect(await deliver(mailer, { unlessReleased: stopped.signal })).toMatchObject({ kind: 'accepted' });
  });
});

describe('a password', () => {
  it('is sent unencrypted only to this machine, or if configured', async () => {
    const server = await startScriptedSmtp(({ stage }) =>
      stage === 'EHLO' ? { answer: '250-scripted.test\r\n250 AUTH PLAIN' } : undefined,
    );
    closing.push(() => server.close());
    const { port } = new URL(server.url);
    const outcomeOf = async (address: string): Promise<MailDelivery> => {
      const mailer = createMailer({ url: `smtp://me:secret@${address}`, from: 'galley@example.com' });
      closing.push(() => mailer.close());
      return await deliver(mailer);
    };
    // This address leads here too, but isn't known as local.
    expect(await outcomeOf(`0.0.0.0:${port}`)).toMatchObject({ kind: 'unsent', reason: expect.stringMatching(/TLS/) });
    expect(server.otherCommands).toEqual(['STARTTLS']);
    expect(await outcomeOf(`127.0.0.1:${port}`)).toMatchObject({ kind: 'accepted' });
    expect(await outcomeOf(`0.0.0.0:${port}?requireTLS=false`)).toMatchObject({ kind: 'accepted' });
  });
});

describe('the sender', () => {
  it.each(['nobody', 'a@example.com, b@example.com', 'Group: a@example.com, b@example.com;', ''])(
    'can’t be %j',
    (from) => {
      expect(() => createMailer({ url: 'smtp://127.0.0.1:1', from })).toThrow('smtp.from');
    },
  );
});
