import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, Runtime, type Worker } from '@temporalio/worker';
import {
  type ScriptedSmtpServer,
  type SmtpReaction,
  type SmtpStage,
  startScriptedSmtp,
} from '../../../helpers/smtp-server.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';
import { startDevServer, type TestDevServer } from '../../../helpers/temporal.ts';
import { workflowBundles } from '../../../helpers/workflow-bundles.ts';
import { INPUT } from '../review-input.ts';
import { createMailWorker, Scenarios } from './mail-fixture.ts';
import type { MailWorkerOptions, PauseAt } from './mail-worker-main.ts';
import { reviewMail } from './mail-workflows.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const TASK_QUEUE = 'mail';

/** Short, so that a killed worker is detected soon, but long enough for a busy machine to reach the mark. */
const HEARTBEAT_MS = 8_000;

type Step = {
  name: string;
  /** The server falls silent here, once; `taken`: what came before is in the mailbox. */
  server?: { stage: SmtpStage; reaction: SmtpReaction };
  /** Or the worker itself stops here. */
  pauseAt?: PauseAt;
  outcome: 'sent' | 'unknown';
  mails: number;
  /** How often Temporal must have heard of it before the worker is killed. */
  heartbeats?: number;
};

const silence = (stage: SmtpStage, taken = false): NonNullable<Step['server']> => ({
  stage,
  reaction: { hang: true, taken },
});

/** Every step around a message's DATA. Before the mark nothing was sent, and after it the outcome is unknown. */
const STEPS: Step[] = [
  { name: 'before the greeting', server: silence('connect'), outcome: 'sent', mails: 1 },
  { name: 'before MAIL', server: silence('EHLO'), outcome: 'sent', mails: 1 },
  { name: 'after MAIL', server: silence('MAIL'), outcome: 'sent', mails: 1 },
  { name: 'after RCPT', server: silence('RCPT'), outcome: 'sent', mails: 1 },
  { name: 'after DATA', server: silence('DATA'), outcome: 'sent', mails: 1 },
  { name: 'before the mark', pauseAt: 'before-mark', outcome: 'sent', mails: 1 },
  { name: 'after the mark, before the last line', pauseAt: 'after-mark', outcome: 'unknown', mails: 0 },
  { name: 'after the last line, taken', server: silence('end', true), outcome: 'unknown', mails: 1, heartbeats: 3 },
  { name: 'after the last line, lost', server: silence('end'), outcome: 'unknown', mails: 0, heartbeats: 3 },
  // The worker's periodic heartbeat reports the response if the awaited heartbeat doesn't happen.
  { name: 'after the answer', pauseAt: 'before-answer-note', outcome: 'sent', mails: 1 },
  { name: 'after the answer was noted', pauseAt: 'after-answer-note', outcome: 'sent', mails: 1 },
];

describe('a worker killed with SIGKILL while it sends', () => {
  let temporal: TestDevServer;
  let worker: Worker;
  let running: Promise<void>;
  let child: ChildProcess | undefined;
  const survivors = new Scenarios();
  const servers = new Map<string, ScriptedSmtpServer>();
  const handles = new Map<string, WorkflowHandle<typeof reviewMail>>();

  beforeAll(async () => {
    temporal = await startDevServer();
    const scenarios: MailWorkerOptions['scenarios'] = [];
    for (const { name, server: hitch, pauseAt = null } of STEPS) {
      const smtp = await startScriptedSmtp((moment) =>
        moment.stage === hitch?.stage && moment.time === 1 ? hitch.reaction : undefined,
      );
      servers.set(name, smtp);
      scenarios.push({ name, smtpUrl: smtp.url, pauseAt });
      survivors.add(name, { smtpUrl: smtp.url });
    }

    child = startWorkerProcess({
      address: temporal.address,
      namespace: temporal.namespace,
      taskQueue: TASK_QUEUE,
      scenarios,
    });
    const said = linesOf(child);
    await waitFor(() => said.includes('ready'), { describe: 'became ready' });
    // Only the child runs activities. This worker runs only workflows until the child is dead.
    worker = await createMailWorker(temporal, TASK_QUEUE, new Scenarios(), workflowBundles.mail, 'workflows');
    running = worker.run();
    for (const { name } of scenarios) {
      const pullRequest = { ...INPUT.pullRequest, title: name };
      const input = { ...INPUT, pullRequest };
      const args: Parameters<typeof reviewMail> = [name, input, { heartbeatMs: HEARTBEAT_MS }];
      handles.set(
        name,
        await temporal.client.workflow.start(reviewMail, { taskQueue: TASK_QUEUE, workflowId: name, args }),
      );
    }
    for (const { name, server: hitch } of STEPS) {
      const isThere = (): boolean | undefined =>
        hitch === undefined
          ? said.includes(name)
          : servers.get(name)?.moments.some(({ stage }) => stage === hitch.stage);
      await waitFor(isThere, { describe: `came to "${name}"`, everyMs: 20 });
    }
    // Each heartbeat of the worker itself could wipe out the mark if it were made otherwise.
    await Promise.all(STEPS.map((step) => untilHeard(step, handles.get(step.name))));
    child.kill('SIGKILL');
    await once(child, 'exit');
    worker.shutdown();
    await running;
    worker = await createMailWorker(temporal, TASK_QUEUE, survivors, workflowBundles.mail);
    running = worker.run();
  });

  afterAll(async () => {
    child?.kill('SIGKILL');
    worker?.shutdown();
    await running;
    survivors.close();
    await Promise.all([...servers.values()].map((server) => server.close()));
    await temporal?.stop();
  });

  it.each(STEPS)('$name leaves $mails mail(s), reported as $outcome', async ({ name, outcome, mails }) => {
    expect(await handles.get(name)?.result()).toMatchObject({ outcome });
    expect(servers.get(name)?.taken).toHaveLength(mails);
  });
});

/** Waits until Temporal has the note of an attempt, if it leaves one, and has heard from it so many times since. */
async function untilHeard(
  { name, outcome, pauseAt, heartbeats = 0 }: Step,
  handle: WorkflowHandle<typeof reviewMail> | undefined,
): Promise<void> {
  const note = outcome === 'unknown' ? 'sending' : 'answered';
  if (handle === undefined || (note === 'answered' && !pauseAt?.endsWith('answer-note'))) return;
  const heardAt = new Set<string>();
  const isHeard = async (): Promise<boolean> => {
    const [activity] = (await handle.describe()).raw.pendingActivities ?? [];
    // On a busy machine another attempt may already have read the note.
    if (activity === undefined || (activity.attempt ?? 1) > 1) return true;
    const details = Buffer.from(activity.heartbeatDetails?.payloads?.[0]?.data ?? []).toString();
    if (!details.includes(note)) return false;
    heardAt.add(JSON.stringify(activity.lastHeartbeatTime));
    return heardAt.size > heartbeats;
  };
  await waitFor(isHeard, { describe: `heard "${note}" of "${name}"` });
}

function startWorkerProcess(options: MailWorkerOptions): ChildProcess {
  return spawn(
    process.execPath,
    ['--import', './scripts/typescript.js', 'test/activities/mails/send/mail-worker-main.ts', JSON.stringify(options)],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_OPTIONS: '--no-warnings' } },
  );
}

function linesOf(child: ChildProcess): string[] {
  const lines: string[] = [];
  if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return lines;
}
