import type { Client } from '@temporalio/client';
import { freePort } from '../../helpers/free-port.ts';
import type { SmtpReaction, SmtpStage } from '../../helpers/smtp-server.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { workflowBundles } from '../../helpers/workflow-bundles.ts';
import { at, lastLines, type MailBench, startMailBench, TASK_QUEUE, TIMEOUTS } from './mail-bench.ts';
import { createMailWorker, INPUT, pendingAttempt, QUICK, Scenarios } from './mail-rig.ts';
import { operatorMail, reviewMail } from './mail-workflows.ts';

let bench: MailBench;

beforeAll(async () => {
  bench = await startMailBench();
});

afterAll(async () => {
  await bench?.stop();
});

describe('a mail that the server takes', () => {
  it('is sent, with the server’s answer', async () => {
    const server = await bench.smtp();
    expect(await bench.send({ smtpUrl: server.url })).toEqual({ outcome: 'sent', detail: '250 2.0.0 queued as 4711' });
    expect(server.taken).toHaveLength(1);
  });

  it('goes to one operator in the same way', async () => {
    const server = await bench.smtp();
    bench.scenarios.add('operator', { smtpUrl: server.url });
    const result = await bench.temporal.client.workflow.execute(operatorMail, {
      taskQueue: TASK_QUEUE,
      workflowId: 'operator',
      args: [
        'operator',
        { ...INPUT, event: 'job-failed', to: 'ops@example.com', jobId: 'aj_1', message: 'no' },
        TIMEOUTS,
      ],
    });
    expect(result).toMatchObject({ outcome: 'sent' });
    expect(server.taken).toEqual([expect.objectContaining({ to: ['ops@example.com'] })]);
  });

  it('is sent once although its answer takes far longer than the heartbeat timeout', async () => {
    const server = await bench.smtp(async ({ stage }) => {
      if (stage === 'end') await new Promise((resolve) => setTimeout(resolve, 12_000));
      return undefined;
    });
    const result = await bench.send({ smtpUrl: server.url, socketTimeoutMs: 30_000 });
    expect(result).toMatchObject({ outcome: 'sent' });
    expect(lastLines(server)).toBe(1);
  });
});

describe('a refusal for now', () => {
  it.each<[SmtpStage, string]>([
    ['MAIL', '421 4.3.2 busy'],
    ['RCPT', '450 4.2.0 greylisted'],
    ['DATA', '451 4.3.0 no room'],
    ['end', '451 4.7.0 scanner away'],
    ['end', '421 4.3.2 stopping'],
  ])('to %s (%s) is tried again until it is taken, once', async (stage, answer) => {
    const server = await bench.smtp(at(stage, { answer }, 2));
    expect(await bench.send({ smtpUrl: server.url })).toMatchObject({ outcome: 'sent' });
    expect(server.taken).toHaveLength(1);
    expect(server.moments.filter((moment) => moment.stage === stage)).toHaveLength(3);
  });

  it('that never ends is given up after the time for it, with the reason', async () => {
    const server = await bench.smtp(at('RCPT', { answer: '450 4.2.0 greylisted' }, 100));
    const result = await bench.send({ smtpUrl: server.url, timing: { ...QUICK, giveUpAfterMs: 2_500 } });
    expect(result).toEqual({ outcome: 'refused', detail: expect.stringMatching(/^given up after .*greylisted/) });
    expect(server.taken).toEqual([]);
  });
});

describe('a refusal for good', () => {
  it.each<[SmtpStage, string]>([
    ['RCPT', '550 5.1.1 no such user'],
    ['DATA', '554 5.7.1 not from you'],
    ['end', '550 5.7.1 looks like spam'],
  ])('to %s is reported and not tried again', async (stage, answer) => {
    const server = await bench.smtp(at(stage, { answer }));
    expect(await bench.send({ smtpUrl: server.url })).toEqual({ outcome: 'refused', detail: answer });
    expect(server.moments.filter((moment) => moment.stage === stage)).toHaveLength(1);
    expect(server.taken).toEqual([]);
  });

  it.each(['not an address', 'ada@example.com\r\nRCPT TO:<eve@example.com>', 'a@example.com, b@example.com', '<a@b>'])(
    'is what we say ourselves to %j',
    async (to) => {
      const server = await bench.smtp();
      expect(await bench.send({ smtpUrl: server.url }, { to })).toMatchObject({ outcome: 'refused' });
      expect(server.moments).toEqual([]);
    },
  );
});

describe('a mail server that is away', () => {
  it('is tried until it is there', async () => {
    const port = await freePort();
    const handle = await bench.start({ smtpUrl: `smtp://127.0.0.1:${port}` });
    await waitFor(async () => (await pendingAttempt(handle)) > 1, { describe: 'tried again' });
    const server = await bench.smtp(undefined, port);
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    expect(server.taken).toHaveLength(1);
  });

  it.each<[string, SmtpStage, SmtpReaction]>([
    ['greets nobody', 'connect', { hang: true }],
    ['breaks off at DATA', 'DATA', { cut: true }],
    ['breaks off in the middle of the message', 'body', { cut: true }],
  ])('because it %s at first gets the mail once', async (_, stage, reaction) => {
    const server = await bench.smtp(at(stage, reaction));
    const slowly = slowClient();
    expect(await bench.send({ smtpUrl: server.url, client: slowly })).toMatchObject({ outcome: 'sent' });
    expect(server.taken).toHaveLength(1);
    expect(lastLines(server)).toBe(1);
  });
});

describe('an answer that never comes', () => {
  it.each<[string, SmtpReaction]>([
    ['because the connection breaks, and the mail is there', { cut: true, taken: true }],
    ['because the connection breaks, and the mail is lost', { cut: true }],
    ['because the server hangs', { hang: true, taken: true }],
  ])('makes the outcome unknown, %s', async (_, reaction) => {
    const server = await bench.smtp(at('end', reaction));
    const result = await bench.send({ smtpUrl: server.url, socketTimeoutMs: 1_000 });
    expect(result).toEqual({ outcome: 'unknown', detail: expect.any(String) });
    expect(lastLines(server)).toBe(1);
  });

  it('is not waited for by a worker that stops', async () => {
    const server = await bench.smtp(at('end', { hang: true, taken: true }));
    const mine = new Scenarios();
    mine.add('stopping', { smtpUrl: server.url, socketTimeoutMs: 60_000 });
    const stopping = await createMailWorker(bench.temporal, 'mail-stopping', mine, workflowBundles.mail);
    const stopped = stopping.run();
    const handle = await bench.temporal.client.workflow.start(reviewMail, {
      taskQueue: 'mail-stopping',
      workflowId: 'stopping',
      args: ['stopping', { ...INPUT, rule: 'stopping' }, { heartbeatMs: 30_000 }],
    });
    await waitFor(() => lastLines(server) === 1, { describe: 'sent the last line' });
    stopping.shutdown();
    await stopped;
    mine.close();
    const other = new Scenarios();
    other.add('stopping', { smtpUrl: server.url });
    const next = await createMailWorker(bench.temporal, 'mail-stopping', other, workflowBundles.mail);
    const result = await next.runUntil(handle.result());
    other.close();
    expect(result).toMatchObject({ outcome: 'unknown' });
    expect(lastLines(server)).toBe(1);
  });
});

describe('a mail whose workflow is cancelled', () => {
  it('is not sent where its last line isn’t out', async () => {
    const server = await bench.smtp(at('connect', { hang: true }, 100));
    const handle = await bench.start({ smtpUrl: server.url }, {}, { heartbeatMs: 4_000 });
    await waitFor(() => server.moments.length > 0, { describe: 'connected' });
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow();
    expect(lastLines(server)).toBe(0);
  });

  it('is reported as what it came to where its last line is out', async () => {
    const server = await bench.smtp(async ({ stage }) => {
      if (stage === 'end') await new Promise((resolve) => setTimeout(resolve, 4_000));
      return undefined;
    });
    const handle = await bench.start({ smtpUrl: server.url, socketTimeoutMs: 30_000 });
    await waitFor(() => lastLines(server) === 1, { describe: 'sent the last line' });
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    expect(server.taken).toHaveLength(1);
  });
});

/** Gives a server that breaks off time to do so while the mark is being stored. */
function slowClient(): Client {
  return bench.clientWith(async (real) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await real();
  });
}
