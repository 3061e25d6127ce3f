import { createMailer, type Mailer } from '../../../activities/reviewers/mailer.ts';
import {
  type ScriptedSmtpServer,
  type SmtpReaction,
  type SmtpStage,
  startScriptedSmtp,
} from '../../helpers/smtp-server.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { closing, deliver } from './deliver.ts';

async function rig(
  react?: Parameters<typeof startScriptedSmtp>[0],
): Promise<{ server: ScriptedSmtpServer; mailer: Mailer }> {
  const server = await startScriptedSmtp(react);
  const mailer = createMailer({ url: server.url, from: 'Galley <galley@example.com>', socketTimeoutMs: 1_000 });
  closing.push(
    () => server.close(),
    () => mailer.close(),
  );
  return { server, mailer };
}

const at =
  (stage: SmtpStage, reaction: SmtpReaction, times = 1): Parameters<typeof startScriptedSmtp>[0] =>
  (moment) =>
    moment.stage === stage && moment.time <= times ? reaction : undefined;

describe('a mail that the server takes', () => {
  it('is told with the server’s answer, and arrives whole', async () => {
    const { server, mailer } = await rig();
    expect(await deliver(mailer)).toEqual({ kind: 'accepted', answer: '250 2.0.0 queued as 4711' });
    expect(server.taken).toEqual([expect.objectContaining({ from: 'galley@example.com', to: ['ops@example.com'] })]);
    expect(server.taken[0]?.data).toMatch(/--\r\n$/);
  });

  it('shares a connection with the one before it', async () => {
    const { server, mailer } = await rig();
    await deliver(mailer);
    await deliver(mailer);
    expect(server.taken.map(({ connection }) => connection)).toEqual([1, 1]);
  });

  it('asks for permission only after the server has asked for the message', async () => {
    const { server, mailer } = await rig();
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

describe('an answer that refuses', () => {
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
    const { server, mailer } = await rig(at(stage, { answer }));
    expect(await deliver(mailer)).toEqual({ kind: 'refused', permanent, answer });
    expect(server.taken).toEqual([]);
    // The refusal concerns this mail only: the next one goes.
    expect(await deliver(mailer)).toMatchObject({ kind: 'accepted' });
  });

  it('in the middle of the message holds the last line back for good', async () => {
    const { server, mailer } = await rig(at('body', { answer: '552 5.3.4 too large' }));
    let asked = false;
    const delivery = await deliver(mailer, {
      beforeLastLine: async () => {
        asked = true;
        await waitFor(() => server.moments.some(({ stage }) => stage === 'body'), { describe: 'got the first lines' });
        await new Promise((resolve) => setTimeout(resolve, 200));
      },
    });
    expect(asked).toBe(true);
    expect(delivery).toEqual({ kind: 'refused', permanent: true, answer: '552 5.3.4 too large' });
    expect(server.moments.filter(({ stage }) => stage === 'end')).toEqual([]);
  });
});

describe('a mail is certainly not sent', () => {
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
  ])('where %s', async (_, stage, reaction) => {
    const { server, mailer } = await rig(at(stage, reaction));
    expect(await deliver(mailer)).toMatchObject({ kind: 'unsent' });
    expect(server.taken).toEqual([]);
    expect(server.moments.some((moment) => moment.stage === 'end')).toBe(false);
  });

  it('where the connection ends while permission is asked for', async () => {
    const { server, mailer } = await rig(at('body', { cut: true }));
    const delivery = await deliver(mailer, {
      beforeLastLine: () => new Promise((resolve) => setTimeout(resolve, 500)),
    });
    expect(delivery).toMatchObject({ kind: 'unsent' });
    expect(server.moments.some(({ stage }) => stage === 'end')).toBe(false);
  });

  it('where permission is refused, and the server has no message from the half that it got', async () => {
    const { server, mailer } = await rig();
    const delivery = await deliver(mailer, { beforeLastLine: () => Promise.reject(new Error('Temporal is away')) });
    expect(delivery).toEqual({ kind: 'unsent', reason: 'Temporal is away' });
    expect(server.taken).toEqual([]);
    expect(await deliver(mailer)).toMatchObject({ kind: 'accepted' });
    expect(server.taken).toHaveLength(1);
  });

  it('where nothing listens', async () => {
    const { server, mailer } = await rig();
    await server.close();
    expect(await deliver(mailer)).toMatchObject({ kind: 'unsent', reason: expect.stringContaining('ECONNREFUSED') });
  });

  it('where time is up before the last line', async () => {
    const { server, mailer } = await rig(at('connect', { hang: true }));
    expect(await deliver(mailer, { unlessReleased: AbortSignal.timeout(100) })).toMatchObject({ kind: 'unsent' });
    const stopped = new AbortController();
    const delivery = deliver(mailer, {
      unlessReleased: stopped.signal,
      beforeLastLine: async () => {
        stopped.abort();
        await new Promise((resolve) => setTimeout(resolve, 100));
      },
    });
    expect(await delivery).toMatchObject({ kind: 'unsent' });
    expect(server.moments.some(({ stage }) => stage === 'end')).toBe(false);
  });

  it('where the server says 250 before it has the message', async () => {
    const { server, mailer } = await rig(at('body', { answer: '250 thanks, I have seen enough' }));
    const delivery = await deliver(mailer, {
      beforeLastLine: () => new Promise((resolve) => setTimeout(resolve, 300)),
    });
    expect(delivery).toMatchObject({ kind: 'unsent', reason: expect.stringContaining('before it had the message') });
    expect(server.moments.some(({ stage }) => stage === 'end')).toBe(false);
  });
});

describe('nobody knows', () => {
  it.each<[string, SmtpReaction]>([
    ['the connection ends after the last line', { cut: true }],
    ['the connection ends after the last line and the mail is taken', { cut: true, taken: true }],
    ['the server says nothing after the last line', { hang: true }],
    ['the server says something that isn’t an answer', { answer: '354 more please' }],
  ])('where %s', async (_, reaction) => {
    const { server, mailer } = await rig(at('end', reaction));
    const delivery = await deliver(mailer);
    expect(delivery).toMatchObject({ kind: 'unknown' });
    // The pool must not send it again by itself.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(server.moments.filter(({ stage }) => stage === 'end')).toHaveLength(1);
  });

  it('where a stop cuts the wait for the answer short', async () => {
    const stopped = new AbortController();
    const { mailer } = await rig((moment) => {
      if (moment.stage !== 'end') return undefined;
      stopped.abort();
      return { hang: true };
    });
    expect(await deliver(mailer, { anyway: stopped.signal })).toMatchObject({ kind: 'unknown' });
  });

  it('but a stop that may wait does wait for the answer', async () => {
    const stopped = new AbortController();
    const { mailer } = await rig(async (moment) => {
      if (moment.stage !== 'end') return undefined;
      stopped.abort();
      await new Promise((resolve) => setTimeout(resolve, 200));
      return undefined;
    });
    expect(await deliver(mailer, { unlessReleased: stopped.signal })).toMatchObject({ kind: 'accepted' });
  });
});
