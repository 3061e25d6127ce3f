import type { Client, WorkflowHandle } from '@temporalio/client';
import { ActivityNotFoundError } from '@temporalio/client';
import { DefaultLogger, Runtime, type Worker } from '@temporalio/worker';
import { WORKFLOW_IDS } from '../../../../contract/names.ts';
import { ForgeError } from '../../../../forge/forge-error.ts';
import { at, lastLines, type React, type ScriptedSmtpServer, startScriptedSmtp } from '../../../helpers/smtp-server.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';
import { connectTemporal, type TestTemporal } from '../../../helpers/temporal.ts';
import { workflowBundles } from '../../../helpers/workflow-bundles.ts';
import { INPUT } from '../review-input.ts';
import { closing } from './deliver.ts';
import { createMailWorker, interceptHeartbeats, pendingAttempt, type Scenario, Scenarios } from './mail-fixture.ts';
import { reviewMail, ruleStandIn, type Timeouts } from './mail-workflows.ts';

// Activities fail in most of these tests, and the SDK would log each attempt.
Runtime.install({ logger: new DefaultLogger('ERROR') });

const TASK_QUEUE = 'mail';

/** Long, so that no attempt times out on a busy machine. */
const TIMEOUTS: Timeouts = { heartbeatMs: 60_000 };

let temporal: TestTemporal;
let worker: Worker;
let running: Promise<void>;
const scenarios = new Scenarios();

beforeAll(async () => {
  temporal = await connectTemporal();
  worker = await createMailWorker(temporal, TASK_QUEUE, scenarios, workflowBundles.mail);
  running = worker.run();
});

afterAll(async () => {
  worker?.shutdown();
  await running;
  scenarios.close();
  await temporal?.stop();
});

async function smtp(react?: React): Promise<ScriptedSmtpServer> {
  const server = await startScriptedSmtp(react);
  closing.push(() => server.close());
  return server;
}

/** Starts sending with its own scenario and rule, so that tests don't share unsubscribed addresses. */
async function start(
  name: string,
  scenario: Scenario,
  { input = {}, timeouts = TIMEOUTS, taskQueue = TASK_QUEUE }: StartOptions = {},
): Promise<WorkflowHandle<typeof reviewMail>> {
  scenarios.add(name, scenario);
  return await temporal.client.workflow.start(reviewMail, {
    taskQueue,
    workflowId: name,
    args: [name, { ...INPUT, rule: name, ...input }, timeouts],
  });
}

type StartOptions = { input?: Partial<typeof INPUT>; timeouts?: Timeouts; taskQueue?: string };

/** The real client, with heartbeats that a test may drop, delay or observe. */
const clientWith = (heartbeat: Parameters<typeof interceptHeartbeats>[1]): Client =>
  interceptHeartbeats(temporal.client, heartbeat);

describe('the mark in Temporal', () => {
  it('that cannot be cleared directly is cleared by the failure report of the attempt', async () => {
    const server = await smtp();
    let isDown = true;
    const client = clientWith(async (real, details) => {
      if (!isDown || JSON.stringify(details).includes('sending')) await real();
      if (isDown) throw new Error('Temporal is down');
    });
    const handle = await start('uncleared', { smtpUrl: server.url, client });
    await waitFor(async () => (await pendingAttempt(handle)) > 2, { describe: 'tried again' });
    expect(lastLines(server)).toBe(0);
    isDown = false;
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    expect(lastLines(server)).toBe(1);
  });

  it('is rejected from an attempt that has timed out meanwhile: two attempts, one mail', async () => {
    const server = await smtp();
    let asked = 0;
    const refused: unknown[] = [];
    let attempt = async (): Promise<number> => 1;
    // With a deadline of its own, instead of the 5 s of a mark, because the first attempt has to time out.
    const client = clientWith((real) =>
      temporal.client.withDeadline(Date.now() + 300_000, async () => {
        asked += 1;
        // The first attempt pauses just before its mark until it has timed out.
        if (asked === 1) await waitFor(async () => (await attempt()) !== 1, { describe: 'over' });
        await real().catch((error: unknown) => {
          refused.push(error);
          throw error;
        });
      }),
    );
    // The second attempt has to do with as long as the first.
    const timeouts = { heartbeatMs: 60_000, attemptMs: 10_000 };
    const handle = await start('given-up', { smtpUrl: server.url, client }, { timeouts });
    attempt = () => pendingAttempt(handle);
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    await waitFor(() => refused.length > 0, { describe: 'refused the late mark' });
    expect(refused[0]).toBeInstanceOf(ActivityNotFoundError);
    expect(lastLines(server)).toBe(1);
  });

  it('is found by the next worker if a worker stopped before the response', async () => {
    const server = await smtp(at('end', { hang: true, taken: true }));
    const taskQueue = 'mail-stopping';
    const stopping = await createMailWorker(temporal, taskQueue, scenarios, workflowBundles.mail);
    const stopped = stopping.run();
    const timing = { lastAnswerMs: 60_000 };
    const handle = await start('stopping', { smtpUrl: server.url, timing }, { taskQueue });
    await waitFor(() => lastLines(server) === 1, { describe: 'sent the last line' });
    stopping.shutdown();
    await server.close();
    await stopped;
    const next = await createMailWorker(temporal, taskQueue, scenarios, workflowBundles.mail);
    expect(await next.runUntil(handle.result())).toMatchObject({ outcome: 'unknown' });
    expect(lastLines(server)).toBe(1);
  });
});

describe('a reviewer who has unsubscribed', () => {
  it('gets no mail, in any spelling of the address', async () => {
    const server = await smtp();
    await temporal.client.workflow.start(ruleStandIn, {
      taskQueue: TASK_QUEUE,
      workflowId: WORKFLOW_IDS.agentRule('handbook', 'quiet'),
      args: [{ unsubscribed: ['Ada@Example.com'], phase: 'a phase of another release' }],
    });
    const smtpUrl = server.url;
    const quiet = await start('quiet', { smtpUrl });
    expect(await quiet.result()).toEqual({ outcome: 'unsubscribed', detail: null });
    const other = await start('not-quiet', { smtpUrl }, { input: { rule: 'quiet', to: 'bob@example.com' } });
    expect(await other.result()).toMatchObject({ outcome: 'sent' });
    expect(server.taken.map(({ to }) => to)).toEqual([['bob@example.com']]);
  });

  it('gets no mail while the unsubscriptions cannot be read, and others get theirs once they can', async () => {
    const server = await smtp();
    const id = WORKFLOW_IDS.agentRule('handbook', 'silent');
    const silent = await temporal.client.workflow.start(ruleStandIn, {
      taskQueue: TASK_QUEUE,
      workflowId: id,
      args: [null],
    });
    const handle = await start('silent', { smtpUrl: server.url });
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

describe('a reviewer’s own link', () => {
  /** The first message, with its quoted-printable lines joined. */
  const messageOf = (server: ScriptedSmtpServer): string =>
    (server.taken[0]?.data ?? '').replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');

  it('is retried while the forge is down', async () => {
    const server = await smtp();
    let isAway = true;
    const reviewLink = async (url: string, mail: string) => {
      if (isAway) throw new ForgeError('The embedded forge could not be asked', { status: null, retryable: true });
      return `${url}/review?key=review_for_${mail}`;
    };
    const handle = await start('own-link', { smtpUrl: server.url, forge: { reviewLink } });
    await waitFor(async () => (await pendingAttempt(handle)) > 1, { describe: 'tried again' });
    expect(server.moments).toEqual([]);
    isAway = false;
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    expect(messageOf(server)).toContain(`${INPUT.pullRequest.url}/review?key=review_for_${INPUT.to}`);
  });

  it('is left out if the forge has none, and the mail links to the page', async () => {
    const server = await smtp();
    const reviewLink = async () => {
      throw new ForgeError('The pull request has ended', { status: 409, retryable: false });
    };
    const handle = await start('no-link', { smtpUrl: server.url, forge: { reviewLink } });
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    expect(messageOf(server)).toContain(INPUT.pullRequest.url);
    expect(messageOf(server)).not.toContain('/review?key');
  });
});
