import { setTimeout as sleep } from 'node:timers/promises';
import { ActivityNotFoundError } from '@temporalio/client';
import { createSendingMark } from '../../../activities/reviewers/sending-mark.ts';
import { WORKFLOW_IDS } from '../../../contract/names.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { activityEnvironment } from '../activity-environment.ts';
import { lastLines, type MailBench, startMailBench, TASK_QUEUE } from './mail-bench.ts';
import { pendingAttempt } from './mail-rig.ts';
import { ruleStandIn } from './mail-workflows.ts';

let bench: MailBench;

beforeAll(async () => {
  bench = await startMailBench();
});

afterAll(async () => {
  await bench?.stop();
});

describe('the mark in Temporal', () => {
  it('that can’t be stored holds the mail back, until it can', async () => {
    const server = await bench.smtp();
    let asked = 0;
    const client = bench.clientWith(async (real) => {
      asked += 1;
      // The note of the first attempt, and the three tries to clear it.
      if (asked <= 4) throw new Error('Temporal is away');
      await real();
    });
    expect(await bench.send({ smtpUrl: server.url, client })).toMatchObject({ outcome: 'sent' });
    expect(server.moments.filter(({ stage }) => stage === 'DATA')).toHaveLength(2);
    expect(lastLines(server)).toBe(1);
  });

  it('that was stored without our hearing of it is cleared, and the mail is sent once', async () => {
    const server = await bench.smtp();
    let asked = 0;
    const client = bench.clientWith(async (real) => {
      await real();
      if (++asked === 1) throw new Error('the answer was lost');
    });
    expect(await bench.send({ smtpUrl: server.url, client })).toMatchObject({ outcome: 'sent' });
    expect(lastLines(server)).toBe(1);
  });

  it('that can’t be cleared by itself is cleared by the report of the failed attempt', async () => {
    const server = await bench.smtp();
    let away = true;
    const client = bench.clientWith(async (real, details) => {
      if (!away || JSON.stringify(details).includes('sending')) await real();
      if (away) throw new Error('Temporal is away');
    });
    const handle = await bench.start({ smtpUrl: server.url, client });
    await waitFor(async () => (await pendingAttempt(handle)) > 2, { describe: 'tried again' });
    expect(lastLines(server)).toBe(0);
    away = false;
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    expect(lastLines(server)).toBe(1);
  });

  it('that is stored only when the message has come to its end never follows the last word on it', async () => {
    const words: unknown[] = [];
    const client = bench.clientWith(async (_real, details) => {
      // Longer than a heartbeat is away.
      await sleep(JSON.stringify(details).includes('not-sent') ? 2_500 : 200);
    });
    const environment = activityEnvironment();
    environment.on('heartbeat', (details: unknown) => words.push(details));
    await environment.run(async () => {
      const mark = createSendingMark(client);
      const stored = mark.set();
      await mark.replace({ stage: 'not-sent' });
      await stored;
      mark.stop();
    });
    expect(words).toEqual([{ stage: 'not-sent' }]);
  });

  it('is refused to an attempt that Temporal has given up meanwhile: two attempts, one mail', async () => {
    const server = await bench.smtp();
    let asked = 0;
    const refused: unknown[] = [];
    let attempt = async (): Promise<number> => 1;
    const client = bench.clientWith(async (real) => {
      asked += 1;
      // The first attempt stands still, just before its mark, until it is over.
      if (asked === 1) await waitFor(async () => (await attempt()) !== 1, { describe: 'over' });
      await real().catch((error: unknown) => {
        refused.push(error);
        throw error;
      });
    });
    // The mark itself may take 5 s, and the second attempt has to do with as long as the first.
    const timeouts = { heartbeatMs: 60_000, attemptMs: 3_000 };
    const handle = await bench.start({ smtpUrl: server.url, client, socketTimeoutMs: 30_000 }, {}, timeouts);
    attempt = () => pendingAttempt(handle);
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
    await waitFor(() => refused.length > 0, { describe: 'refused the late mark' });
    expect(refused[0]).toBeInstanceOf(ActivityNotFoundError);
    expect(lastLines(server)).toBe(1);
  });
});

describe('a reviewer who has unsubscribed', () => {
  it('gets no mail, however the address is spelled', async () => {
    const server = await bench.smtp();
    await bench.temporal.client.workflow.start(ruleStandIn, {
      taskQueue: TASK_QUEUE,
      workflowId: WORKFLOW_IDS.agentRule('handbook', 'quiet'),
      args: [{ unsubscribed: ['Ada@Example.com'], phase: 'a phase of another release' }],
    });
    expect(await bench.send({ smtpUrl: server.url }, { rule: 'quiet' })).toEqual({
      outcome: 'unsubscribed',
      detail: null,
    });
    expect(await bench.send({ smtpUrl: server.url }, { rule: 'quiet', to: 'bob@example.com' })).toMatchObject({
      outcome: 'sent',
    });
    expect(server.taken.map(({ to }) => to)).toEqual([['bob@example.com']]);
  });

  it('gets none while that can’t be read, and others get theirs once it can', async () => {
    const server = await bench.smtp();
    const id = WORKFLOW_IDS.agentRule('handbook', 'silent');
    const silent = await bench.temporal.client.workflow.start(ruleStandIn, {
      taskQueue: TASK_QUEUE,
      workflowId: id,
      args: [null],
    });
    const handle = await bench.start({ smtpUrl: server.url }, { rule: 'silent' });
    await waitFor(async () => (await pendingAttempt(handle)) > 1, { describe: 'tried again' });
    expect(server.moments).toEqual([]);
    await silent.terminate();
    await bench.temporal.client.workflow.start(ruleStandIn, {
      taskQueue: TASK_QUEUE,
      workflowId: id,
      args: [{ unsubscribed: [] }],
    });
    expect(await handle.result()).toMatchObject({ outcome: 'sent' });
  });
});
