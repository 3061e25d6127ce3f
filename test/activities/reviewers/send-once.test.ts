import { ActivityNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, Runtime, type Worker } from '@temporalio/worker';
import { WORKFLOW_IDS } from '../../../contract/names.ts';
import { freePort } from '../../helpers/free-port.ts';
import {
  type ScriptedSmtpServer,
  type SmtpReaction,
  type SmtpStage,
  startScriptedSmtp,
} from '../../helpers/smtp-server.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { startDevServer, type TestDevServer } from '../../helpers/temporal.ts';
import {
  createMailWorker,
  INPUT,
  interceptHeartbeats,
  type MailResult,
  mailWorkflowBundle,
  pendingAttempt,
  QUICK,
  type Scenario,
  Scenarios,
} from './mail-rig.ts';
import { operatorMail, reviewMail, ruleStandIn, type Timeouts } from './mail-workflows.ts';

// Failing is what most of these tests are about; the SDK would log each attempt.
Runtime.install({ logger: new DefaultLogger('ERROR') });

const TASK_QUEUE = 'mail';
const TIMEOUTS: Timeouts = { heartbeatMs: 4_000 };

let temporal: TestDevServer;
let worker: Worker;
let running: Promise<void>;
let bundle: { code: string };
const scenarios = new Scenarios();
const servers: ScriptedSmtpServer[] = [];
let counter = 0;

beforeAll(async () => {
  [temporal, bundle] = await Promise.all([startDevServer(), mailWorkflowBundle()]);
  worker = await createMailWorker(temporal.nativeConnection, TASK_QUEUE, scenarios, bundle);
  running = worker.run();
});

afterAll(async () => {
  worker?.shutdown();
  await running;
  scenarios.close();
  await Promise.all(servers.map((server) => server.close()));
  await temporal?.stop();
});

type React = Parameters<typeof startScriptedSmtp>[0];

async function smtp(react?: React, port?: number): Promise<ScriptedSmtpServer> {
  const server = await startScriptedSmtp(react, port);
  servers.push(server);
  return server;
}

const at =
  (stage: SmtpStage, reaction: SmtpReaction, times = 1): React =>
  (moment) =>
    moment.stage === stage && moment.time <= times ? reaction : undefined;

async function start(
  scenario: Scenario,
  input: Partial<typeof INPUT> = {},
  timeouts = TIMEOUTS,
): Promise<WorkflowHandle<typeof reviewMail>> {
  const name = `scenario-${++counter}`;
  scenarios.add(name, scenario);
  return await temporal.client.workflow.start(reviewMail, {
    taskQueue: TASK_QUEUE,
    workflowId: name,
    // A rule of its own: what one test unsubscribes concerns no other.
    args: [name, { ...INPUT, rule: name, ...input }, timeouts],
  });
}

async function send(scenario: Scenario, input: Partial<typeof INPUT> = {}): Promise<MailResult> {
  return await (await start(scenario, input)).result();
}

const lastLines = (server: ScriptedSmtpServer): number => server.moments.filter(({ stage }) => stage === 'end').length;

describe('a mail that the server takes', () => {
  it('is sent, with the server’s answer', async () => {
    const server = await smtp();
    expect(await send({ smtpUrl: server.url })).toEqual({ outcome: 'sent', detail: '250 2.0.0 queued as 4711' });
    expect(server.taken).toHaveLength(1);
  });

  it('goes to one operator in the same way', async () => {
    const server = await smtp();
    scenarios.add('operator', { smtpUrl: server.url });
    const result = await temporal.client.workflow.execute(operatorMail, {
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
    const server = await smtp(async ({ stage }) => {
      if (stage === 'end') await new Promise((resolve) => setTimeout(resolve, 12_000));
      return undefined;
    });
    const result = await send({ smtpUrl: server.url, socketTimeoutMs: 30_000 });
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
    const server = await smtp(at(stage, { answer }, 2));
    expect(await send({ smtpUrl: server.url })).toMatchObject({ outcome: 'sent' });
    expect(server.taken).toHaveLength(1);
    expect(server.moments.filter((moment) => moment.stage === stage)).toHaveLength(3);
  });

  it('that never ends is given up after the time for it, with the reason', async () => {
    const server = await smtp(at('RCPT', { answer: '450 4.2.0 greylisted' }, 100));
    const result = await send({ smtpUrl: server.url, timing: { ...QUICK, giveUpAfterMs: 2_500 } });
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
    const server = await smtp(at(stage, { answer }));
    expect(await send({ smtpUrl: server.url })).toEqual({ outcome: 'refused', detail: answer });
    expect(server.moments.filter((moment) => moment.stage === stage)).toHaveLength(1);
    expect(server.taken).toEqual([]);
  });

  it.each(['not an address', 'ada@example.com\r\nRCPT TO:<eve@example.com>', 'a@example.com, b@example.com', '<a@b>'])(
    'is what we say ourselves to %j',
    async (to) => {
      const server = await smtp();
      expect(await send({ smtpUrl: server.url }, { to })).toMatchObject({ outcome: 'refused' });
      expect(server.moments).toEqual([]);
    },
  );
});

describe('a mail server that is away', () => {
  it('is tried until it is there', async () => {
    const port = await freePort();
    const handle = await start({ smtpUrl: `smtp://127.0.0.1:${port}` });
    await waitFor(async () => (await pendingAttempt(handle)) > 1, { describe: 'tried again' });
    const server = await smtp(undefined, port);
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    expect(server.taken).toHaveLength(1);
  });

  it.each<[string, SmtpStage, SmtpReaction]>([
    ['greets nobody', 'connect', { hang: true }],
    ['breaks off at DATA', 'DATA', { cut: true }],
    ['breaks off in the middle of the message', 'body', { cut: true }],
  ])('because it %s at first gets the mail once', async (_, stage, reaction) => {
    const server = await smtp(at(stage, reaction));
    const slowly = slowClient();
    expect(await send({ smtpUrl: server.url, client: slowly })).toMatchObject({ outcome: 'sent' });
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
    const server = await smtp(at('end', reaction));
    const result = await send({ smtpUrl: server.url, socketTimeoutMs: 1_000 });
    expect(result).toEqual({ outcome: 'unknown', detail: expect.any(String) });
    expect(lastLines(server)).toBe(1);
  });

  it('is not waited for by a worker that stops', async () => {
    const server = await smtp(at('end', { hang: true, taken: true }));
    const mine = new Scenarios();
    mine.add('stopping', { smtpUrl: server.url, socketTimeoutMs: 60_000 });
    const stopping = await createMailWorker(temporal.nativeConnection, 'mail-stopping', mine, bundle);
    const stopped = stopping.run();
    const handle = await temporal.client.workflow.start(reviewMail, {
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
    const next = await createMailWorker(temporal.nativeConnection, 'mail-stopping', other, bundle);
    const result = await next.runUntil(handle.result());
    other.close();
    expect(result).toMatchObject({ outcome: 'unknown' });
    expect(lastLines(server)).toBe(1);
  });
});

describe('a mail whose workflow is cancelled', () => {
  it('is not sent where its last line isn’t out', async () => {
    const server = await smtp(at('connect', { hang: true }, 100));
    const handle = await start({ smtpUrl: server.url }, {}, { heartbeatMs: 4_000 });
    await waitFor(() => server.moments.length > 0, { describe: 'connected' });
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow();
    expect(lastLines(server)).toBe(0);
  });

  it('is reported as what it came to where its last line is out', async () => {
    const server = await smtp(async ({ stage }) => {
      if (stage === 'end') await new Promise((resolve) => setTimeout(resolve, 4_000));
      return undefined;
    });
    const handle = await start({ smtpUrl: server.url, socketTimeoutMs: 30_000 });
    await waitFor(() => lastLines(server) === 1, { describe: 'sent the last line' });
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    expect(server.taken).toHaveLength(1);
  });
});

/** The real client, whose heartbeats a test may lose, delay or see. */
function clientWith(heartbeat: Parameters<typeof interceptHeartbeats>[1]): Client {
  return interceptHeartbeats(temporal.client.connection, heartbeat);
}

/** Gives a server that breaks off time to do so while the mark is being stored. */
function slowClient(): Client {
  return clientWith(async (real) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await real();
  });
}

describe('the mark in Temporal', () => {
  it('that can’t be stored holds the mail back, until it can', async () => {
    const server = await smtp();
    let asked = 0;
    const client = clientWith(async (real) => {
      asked += 1;
      // The note of the first attempt, and the three tries to clear it.
      if (asked <= 4) throw new Error('Temporal is away');
      await real();
    });
    expect(await send({ smtpUrl: server.url, client })).toMatchObject({ outcome: 'sent' });
    expect(server.moments.filter(({ stage }) => stage === 'DATA')).toHaveLength(2);
    expect(lastLines(server)).toBe(1);
  });

  it('that was stored without our hearing of it is cleared, and the mail is sent once', async () => {
    const server = await smtp();
    let asked = 0;
    const client = clientWith(async (real) => {
      await real();
      if (++asked === 1) throw new Error('the answer was lost');
    });
    expect(await send({ smtpUrl: server.url, client })).toMatchObject({ outcome: 'sent' });
    expect(lastLines(server)).toBe(1);
  });

  it('that can’t be cleared by itself is cleared by the report of the failed attempt', async () => {
    const server = await smtp();
    let away = true;
    const client = clientWith(async (real, details) => {
      if (!away || JSON.stringify(details).includes('sending')) await real();
      if (away) throw new Error('Temporal is away');
    });
    const handle = await start({ smtpUrl: server.url, client });
    await waitFor(async () => (await pendingAttempt(handle)) > 2, { describe: 'tried again' });
    expect(lastLines(server)).toBe(0);
    away = false;
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    expect(lastLines(server)).toBe(1);
  });

  it('is refused to an attempt that Temporal has given up meanwhile: two attempts, one mail', async () => {
    const server = await smtp();
    let asked = 0;
    const refused: unknown[] = [];
    const client = clientWith(async (real) => {
      asked += 1;
      // The first attempt sleeps, just before its mark, until it is over.
      if (asked === 1) await new Promise((resolve) => setTimeout(resolve, 4_000));
      await real().catch((error: unknown) => {
        refused.push(error);
        throw error;
      });
    });
    const timeouts = { heartbeatMs: 60_000, attemptMs: 1_500 };
    const handle = await start({ smtpUrl: server.url, client, socketTimeoutMs: 30_000 }, {}, timeouts);
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    await waitFor(() => refused.length > 0, { describe: 'refused the late mark' });
    expect(refused[0]).toBeInstanceOf(ActivityNotFoundError);
    expect(lastLines(server)).toBe(1);
  });
});

describe('a reviewer who has unsubscribed', () => {
  it('gets no mail, however the address is spelled', async () => {
    const server = await smtp();
    await temporal.client.workflow.start(ruleStandIn, {
      taskQueue: TASK_QUEUE,
      workflowId: WORKFLOW_IDS.agentRule('handbook', 'quiet'),
      args: [{ unsubscribed: ['Ada@Example.com'], phase: 'a phase of another release' }],
    });
    expect(await send({ smtpUrl: server.url }, { rule: 'quiet' })).toEqual({ outcome: 'unsubscribed', detail: null });
    expect(await send({ smtpUrl: server.url }, { rule: 'quiet', to: 'bob@example.com' })).toMatchObject({
      outcome: 'sent',
    });
    expect(server.taken.map(({ to }) => to)).toEqual([['bob@example.com']]);
  });

  it('gets none while that can’t be read, and others get theirs once it can', async () => {
    const server = await smtp();
    const id = WORKFLOW_IDS.agentRule('handbook', 'silent');
    const silent = await temporal.client.workflow.start(ruleStandIn, {
      taskQueue: TASK_QUEUE,
      workflowId: id,
      args: [null],
    });
    const handle = await start({ smtpUrl: server.url }, { rule: 'silent' });
    await waitFor(async () => (await pendingAttempt(handle)) > 1, { describe: 'tried again' });
    expect(server.moments).toEqual([]);
    await silent.terminate();
    await temporal.client.workflow.start(ruleStandIn, {
      taskQueue: TASK_QUEUE,
      workflowId: id,
      args: [{ unsubscribed: [] }],
    });
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
  });
});
