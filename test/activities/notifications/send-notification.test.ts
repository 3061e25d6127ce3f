import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { createNotificationActivities } from '../../../activities/create-activities.ts';
import {
  NOTIFICATION_SLOTS,
  type NotificationInput,
  type SendNotificationDeps,
} from '../../../activities/notifications/send-notification.ts';
import { targetsOf } from '../../../activities/notifications/targets.ts';
import { source as standard } from '../../../api/sources/standard.ts';
import type { NotifyConfig } from '../../../contract/galley-config.ts';
import type { NotificationEvent } from '../../../contract/notification.ts';
import { galleyConfig } from '../../../programs/config/galley-yaml.ts';
import {
  type NotificationReceiver,
  SECRET_PATH,
  startNotificationReceiver,
} from '../../helpers/notification-receiver.ts';
import { activityEnvironment, failureOf } from '../activity-environment.ts';

const SECRETS = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_b3RoZXIgc2VjcmV0IG9mIDI0IGJ5dGVz'];

const SERVED: NotificationEvent = {
  id: 'served-1',
  at: '2026-11-21T08:00:00.000Z',
  type: 'served',
  data: { site: 'docs', domain: 'docs.example.com', version: '2026-11-21.1', jobId: 'se_1', rolledBack: false },
};

let receiver: NotificationReceiver;
beforeEach(async () => {
  receiver = await startNotificationReceiver();
});
afterEach(() => receiver.close());

function notifyOf(...notify: object[]): NotifyConfig {
  const adminApi = { url: 'http://127.0.0.1', key: 'unused' };
  return galleyConfig.parse({ adminApi, notify }).notify;
}

const webhook = (url = receiver.url) => ({ webhook: url, secret: SECRETS });

/** The input of the activity, and the configuration of its worker. */
function sender(
  target: object,
  { on = notifyOf(target), ...deps }: Partial<SendNotificationDeps> & { on?: NotifyConfig } = {},
) {
  const lines: string[] = [];
  const logger = pino(
    new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    }),
  );
  const { sendNotification } = createNotificationActivities({ logger, notify: on, ...deps });
  const [{ number, host, hash } = { number: 0, host: '', hash: '' }] = targetsOf(notifyOf(target));
  const input: NotificationInput = { site: 'docs', event: SERVED, target: { number, host, hash } };
  const send = (now = Date.now()) => activityEnvironment({ scheduledTimestampMs: now }).run(sendNotification, input);
  return { send, input, lines };
}

describe('a webhook', () => {
  it('is signed with each secret as in Standard Webhooks, and keeps its id in every attempt', async () => {
    const { send } = sender(webhook(), { publicUrl: 'https://galley.example.com' });
    await expect(send()).resolves.toEqual({ status: 200 });
    await send();
    expect(receiver.bodies()[0]).toEqual({
      type: 'served',
      timestamp: SERVED.at,
      data: { ...SERVED.data, siteUrl: 'https://galley.example.com/ui/sites/docs' },
    });
    const ids = receiver.received.map(({ headers, body }) => {
      const delivery = {
        method: 'POST',
        path: '',
        header: (name: string) => [headers[name]].flat()[0],
        body: Buffer.from(body),
      };
      for (const secret of SECRETS) {
        const settings = standard.settings.parse({ secret });
        const context = { settings, secrets: [secret], now: new Date() };
        expect(standard.verify(delivery, context)).toMatchObject({ ok: true });
      }
      return headers['webhook-id'];
    });
    expect(ids[0]).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(new Set(ids).size).toBe(1);
  });

  it.each([
    [200, false],
    [204, false],
    [299, false],
  ])('is delivered with the response %i', async (status) => {
    receiver.answer = (response) => response.writeHead(status).end();
    await expect(sender(webhook()).send()).resolves.toEqual({ status });
  });

  it.each([
    [302, true],
    [400, true],
    [401, true],
    [404, true],
    [408, false],
    [410, true],
    [425, false],
    [429, false],
    [500, false],
    [503, false],
  ])('fails permanently with the response %i: %p', async (status, nonRetryable) => {
    receiver.answer = (response) => response.writeHead(status, { location: '/elsewhere' }).end();
    const failure = await failureOf(sender(webhook()).send());
    expect(failure.nonRetryable).toBe(nonRetryable);
    expect(failure.message).toContain(`returned ${status}`);
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['7', 7_000],
    ['0', 1_000],
    ['999999', 3_600_000],
  ])('is retried after a Retry-After of %s', async (retryAfter, delayMs) => {
    receiver.answer = (response) => response.writeHead(429, { 'retry-after': retryAfter }).end();
    expect(await failureOf(sender(webhook()).send())).toMatchObject({ nextRetryDelay: delayMs });
  });
});

describe('a target', () => {
  it('that does not respond fails the attempt at its timeout, with a retry', async () => {
    receiver.answer = () => {};
    const failure = await failureOf(sender(webhook(), { timing: { timeoutMs: 50 } }).send());
    expect(failure).toMatchObject({ nonRetryable: false, message: expect.stringContaining('no response within') });
  });

  it('that is down leads to a retry', async () => {
    await receiver.close();
    expect(await failureOf(sender(webhook()).send())).toMatchObject({
      nonRetryable: false,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('with an endless response is read only up to a short reason', async () => {
    let ended: Promise<unknown> | undefined;
    receiver.answer = (response) => {
      ended = once(response, 'close');
      response.writeHead(200);
      pour(response);
    };
    await expect(sender(webhook()).send()).resolves.toEqual({ status: 200 });
    await ended;
  });

  it('gets no link to an unknown page, and its URL and secrets appear in no error and no log', async () => {
    receiver.answer = (response, { headers }) =>
      response.writeHead(404).end(`Cannot POST ${SECRET_PATH} ${JSON.stringify(headers)}`);
    const { send, lines } = sender({ slack: receiver.url });
    const failure = await failureOf(send());
    expect(receiver.bodies()).toEqual([{ text: '*docs*: serves 2026-11-21.1' }]);
    const output = [failure.message, JSON.stringify(failure), ...lines].join('\n');
    expect(output).toContain('returned 404');
    expect(output).not.toContain('secretsecret');
    expect(output).not.toContain('webhook-signature');
  });

  it("fails with Slack's reason", async () => {
    receiver.answer = (response) => response.writeHead(410).end('channel_is_archived');
    const failure = await failureOf(sender({ slack: receiver.url }).send());
    expect(failure.message).toMatch(/^notify 1 \(127\.0\.0\.1:\d+\) returned 410 channel_is_archived$/);
  });

  it('that this worker does not know is retried for a while', async () => {
    const { send } = sender(webhook(), { on: notifyOf({ slack: 'https://hooks.example.com/other' }) });
    const removed = expect.stringContaining('was removed from galley.yaml, or its URL was changed');
    expect(await failureOf(send())).toMatchObject({ type: 'TargetRemoved', nonRetryable: false, message: removed });
    expect(await failureOf(send(Date.now() - 3_600_000))).toMatchObject({ nonRetryable: true, message: removed });
  });

  it('that hangs uses only its share of the slots', async () => {
    const hanging: ServerResponse[] = [];
    receiver.answer = (response) => void hanging.push(response);
    const healthy = await startNotificationReceiver();
    const on = notifyOf(webhook(), webhook(healthy.url));
    const logger = pino({ level: 'silent' });
    // No attempt times out before the test ends it, on any machine.
    const { sendNotification } = createNotificationActivities({ logger, notify: on, timing: { timeoutMs: 600_000 } });
    const [first, other] = targetsOf(on);
    const send = (target = first) => {
      if (target === undefined) throw new Error('The target is missing');
      const input = { site: 'docs', event: SERVED, target };
      return activityEnvironment().run(sendNotification, input);
    };
    const held = Array.from({ length: NOTIFICATION_SLOTS / 2 }, () => failureOf(send()));
    expect(await failureOf(send())).toMatchObject({ type: 'TargetBusy', nonRetryable: false });
    await expect(send(other)).resolves.toEqual({ status: 200 });
    receiver.answer = (response) => response.writeHead(503).end();
    for (const response of hanging) response.writeHead(503).end();
    expect(new Set((await Promise.all(held)).map(({ type }) => type))).toEqual(new Set(['NotDelivered']));
    await healthy.close();
  });
});

/** Writes until the reader stops. */
function pour(response: ServerResponse): void {
  while (!response.destroyed && response.write('x'.repeat(65_536)));
  if (!response.destroyed) response.once('drain', () => pour(response));
}
