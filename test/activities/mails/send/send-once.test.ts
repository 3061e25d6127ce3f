import { jest } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { createMailActivities, type MailActivityDeps } from '../../../../activities/mails/activities.ts';
import { createMailer } from '../../../../activities/mails/send/mailer.ts';
import { createSendingMark } from '../../../../activities/mails/send/sending-mark.ts';
import { RECEIVER_CONNECTION } from '../../../../api/temporal-connection.ts';
import {
  at,
  lastLines,
  type React,
  type ScriptedSmtpServer,
  type SmtpReaction,
  type SmtpStage,
  startScriptedSmtp,
} from '../../../helpers/smtp-server.ts';
import { activityEnvironment, failureOf } from '../../activity-environment.ts';
import { INPUT } from '../review-input.ts';
import { closing } from './deliver.ts';
import { interceptHeartbeats, logger } from './mail-fixture.ts';

const HOUR_MS = 3_600_000;
const SENDING = { stage: 'sending' };
const NOT_SENT = { stage: 'not-sent' };

type Environment = ReturnType<typeof activityEnvironment>;
type AttemptOptions = {
  /** The activity info of the attempt. `heartbeatDetails` has the note of an earlier attempt. */
  info?: Parameters<typeof activityEnvironment>[0];
  /** Replaces the request that stores a note in Temporal. */
  store?: (note: unknown) => Promise<void>;
  to?: string;
  timing?: MailActivityDeps['timing'];
};

/** One attempt to send a mail, with the notes that Temporal would get, in order. Runs without a Temporal server. */
function attempt(smtpUrl: string, options: AttemptOptions = {}) {
  const { info = {}, store = async () => {}, to = 'ops@example.com', timing } = options;
  const notes: unknown[] = [];
  const client = clientThat(async (note) => {
    await store(note);
    notes.push(note);
  });
  const mailer = createMailer({ url: smtpUrl, from: 'Galley <galley@example.com>' });
  closing.push(() => mailer.close());
  const { sendOperatorMail } = createMailActivities({ mailer, client, unsubscribeKey: 'k', logger, timing });
  const environment = activityEnvironment({ heartbeatTimeoutMs: 600_000, scheduledTimestampMs: Date.now(), ...info });
  const input = { ...INPUT, event: 'job-failed', to, jobId: 'aj_1', message: 'no' } as const;
  return { result: environment.run(sendOperatorMail, input), notes, environment };
}

/** A client whose notes go through `store` instead of to Temporal. */
function clientThat(store: (note: unknown) => Promise<void>): Client {
  const client = new Client({ connection: Connection.lazy(RECEIVER_CONNECTION) });
  return interceptHeartbeats(client, (_real, note) => store(note));
}

async function smtp(react?: React): Promise<ScriptedSmtpServer> {
  const server = await startScriptedSmtp(react);
  closing.push(() => server.close());
  return server;
}

describe('a mail that the server accepts', () => {
  it("is reported with the server's response, after Temporal has stored the mark", async () => {
    const server = await smtp();
    const before: number[] = [];
    const store = async () => void before.push(lastLines(server));
    const { result, notes } = attempt(server.url, { store });
    const sent = { outcome: 'sent', detail: '250 2.0.0 queued as 4711' };
    expect(await result).toEqual(sent);
    expect(notes).toEqual([SENDING, { stage: 'answered', result: sent }]);
    expect(before).toEqual([0, 1]);
    expect(server.taken).toEqual([expect.objectContaining({ to: ['ops@example.com'] })]);
  });
});

describe('a temporary rejection', () => {
  it.each<[SmtpStage, string]>([
    ['RCPT', '450 4.2.0 greylisted'],
    ['end', '451 4.7.0 scanner away'],
  ])('of %s (%s) is retried after a minute, and leaves no mark', async (stage, answer) => {
    const server = await smtp(at(stage, { answer }));
    const { result, notes } = attempt(server.url);
    const failure = await failureOf(result);
    expect(failure).toMatchObject({ type: 'MailDeferred', category: 'BENIGN', message: answer });
    expect(failure.nonRetryable).not.toBe(true);
    expect(failure.nextRetryDelay).toBeGreaterThanOrEqual(60_000);
    expect(failure.nextRetryDelay).toBeLessThanOrEqual(66_000);
    expect(notes).toEqual(stage === 'end' ? [SENDING, NOT_SENT] : []);
    expect(server.taken).toEqual([]);
  });

  it('that persists is retried every half an hour, and fails after 36 hours with the reason', async () => {
    const server = await smtp(at('RCPT', { answer: '450 4.2.0 greylisted' }, 2));
    const asked = await failureOf(attempt(server.url, { info: { attempt: 50 } }).result);
    expect(asked.nextRetryDelay).toBeGreaterThanOrEqual(HOUR_MS / 2);
    const late = attempt(server.url, { info: { scheduledTimestampMs: Date.now() - 36 * HOUR_MS } });
    const detail = 'given up after 36 hours: 450 4.2.0 greylisted';
    expect(await late.result).toEqual({ outcome: 'refused', detail });
  });
});

describe('a permanent rejection', () => {
  it('is reported, and noted for later attempts', async () => {
    const server = await smtp(at('end', { answer: '550 5.7.1 looks like spam' }));
    const { result, notes } = attempt(server.url);
    const refused = { outcome: 'refused', detail: '550 5.7.1 looks like spam' };
    expect(await result).toEqual(refused);
    expect(notes).toEqual([SENDING, { stage: 'answered', result: refused }]);
  });

  it.each(['not an address', 'ada@example.com\r\nRCPT TO:<eve@example.com>', 'a@example.com, b@example.com', '<a@b>'])(
    'is returned without the mail server for %j',
    async (to) => {
      const server = await smtp();
      expect(await attempt(server.url, { to }).result).toMatchObject({ outcome: 'refused' });
      expect(server.moments).toEqual([]);
    },
  );
});

describe('a mail server that is down', () => {
  it.each<[string, SmtpStage, SmtpReaction]>([
    ['breaks off at DATA', 'DATA', { cut: true }],
    ['greets nobody', 'connect', { hang: true }],
  ])('because it %s is retried soon', async (_, stage, reaction) => {
    const server = await smtp(at(stage, reaction));
    // The timeout for the greeting is three quarters of the heartbeat timeout.
    const { result, notes } = attempt(server.url, { info: { heartbeatTimeoutMs: reaction.hang ? 400 : 600_000 } });
    const failure = await failureOf(result);
    expect(failure).toMatchObject({ type: 'MailUnsent', message: expect.stringMatching(/^not sent: /) });
    expect(failure.nextRetryDelay).toBeLessThanOrEqual(5_500);
    expect([notes, lastLines(server)]).toEqual([[], 0]);
  });
});

it('leads to an unknown outcome and keeps the mark if it never responds', async () => {
  const server = await smtp(at('end', { cut: true, taken: true }));
  const { result, notes } = attempt(server.url);
  expect(await result).toEqual({ outcome: 'unknown', detail: expect.any(String) });
  expect(notes).toEqual([SENDING]);
});

describe('the note of an earlier attempt', () => {
  const answered = { outcome: 'refused', detail: '550 no' } as const;
  it.each<[unknown, object]>([
    [SENDING, { outcome: 'unknown' }],
    [{ stage: 'answered', result: answered }, answered],
    [{ stage: 'answered', result: 'of another release' }, { outcome: 'unknown' }],
    ['nothing that can be read', { outcome: 'unknown' }],
  ])('%j: nothing is sent', async (heartbeatDetails, expected) => {
    const server = await smtp();
    expect(await attempt(server.url, { info: { heartbeatDetails } }).result).toMatchObject(expected);
    expect(server.moments).toEqual([]);
  });

  it('does not matter if that attempt definitely sent nothing', async () => {
    const server = await smtp();
    const { result } = attempt(server.url, { info: { heartbeatDetails: NOT_SENT } });
    expect(await result).toMatchObject({ outcome: 'sent' });
  });
});

describe('an attempt that is canceled', () => {
  /** Cancels when the server comes to a stage, which waits for that. */
  async function canceledAt(stage: SmtpStage, reaction: SmtpReaction | undefined, lastAnswerMs: number) {
    let environment: Environment | undefined;
    const server = await smtp(async (moment) => {
      if (moment.stage !== stage) return undefined;
      environment?.cancel('CANCELLED');
      return reaction;
    });
    const attempted = attempt(server.url, { timing: { lastAnswerMs } });
    environment = attempted.environment;
    return { server, result: attempted.result };
  }

  it('sends nothing if the last line has not been sent', async () => {
    const { server, result } = await canceledAt('EHLO', { hang: true }, 60_000);
    await expect(result).rejects.toBeInstanceOf(CancelledFailure);
    expect(lastLines(server)).toBe(0);
  });

  it('reports the outcome if the last line has been sent', async () => {
    const { server, result } = await canceledAt('end', undefined, 60_000);
    expect(await result).toMatchObject({ outcome: 'sent' });
    expect(server.taken).toHaveLength(1);
  });

  it('waits only briefly for the response', async () => {
    const { result } = await canceledAt('end', { hang: true, taken: true }, 10);
    expect(await result).toMatchObject({ outcome: 'unknown' });
  });
});

describe('a mark', () => {
  it('that cannot be stored prevents the mail', async () => {
    const server = await smtp();
    const store = () => Promise.reject(new Error('Temporal is down'));
    const { result, notes } = attempt(server.url, { store });
    expect(await failureOf(result)).toMatchObject({ type: 'MailUnsent', message: 'not sent: Temporal is down' });
    expect([notes, lastLines(server)]).toEqual([[], 0]);
  });

  it('that may have been stored although the response was lost is cleared', async () => {
    const server = await smtp();
    const seen: unknown[] = [];
    const store = async (note: unknown) => {
      if (seen.push(note) === 1) throw new Error('the response was lost');
    };
    expect(await failureOf(attempt(server.url, { store }).result)).toMatchObject({ type: 'MailUnsent' });
    expect(seen).toEqual([SENDING, NOT_SENT]);
    expect(lastLines(server)).toBe(0);
  });

  describe('by a clock', () => {
    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    /** The heartbeats of the worker itself while `work` goes on. */
    async function heartbeatsWhile(
      client: Client,
      work: (mark: ReturnType<typeof createSendingMark>) => Promise<void>,
    ) {
      const heartbeats: unknown[] = [];
      const environment = activityEnvironment();
      environment.on('heartbeat', (details: unknown) => heartbeats.push(details));
      await environment.run(() => work(createSendingMark(client)));
      return heartbeats;
    }

    it('is repeated until the response arrives, and no longer', async () => {
      const heartbeats = await heartbeatsWhile(
        clientThat(async () => {}),
        async (mark) => {
          await mark.set();
          jest.advanceTimersByTime(30_000);
          mark.stop();
          jest.advanceTimersByTime(30_000);
        },
      );
      expect(heartbeats).toEqual(Array(20).fill(SENDING));
    });

    it('that is stored late never overwrites the final outcome', async () => {
      let stored = (): void => undefined;
      const storing = new Promise<void>((resolve) => {
        stored = resolve;
      });
      const heartbeats = await heartbeatsWhile(
        clientThat(() => storing),
        async (mark) => {
          const set = mark.set();
          const replaced = mark.replace({ stage: 'not-sent' });
          stored();
          await Promise.all([set, replaced]);
          jest.advanceTimersByTime(30_000);
        },
      );
      expect(heartbeats).toEqual([NOT_SENT]);
    });
  });
});
