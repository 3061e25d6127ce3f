import type { Client, WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, Runtime, type Worker } from '@temporalio/worker';
import {
  type ScriptedSmtpServer,
  type SmtpReaction,
  type SmtpStage,
  startScriptedSmtp,
} from '../../helpers/smtp-server.ts';
import { connectTemporal, type TestTemporal } from '../../helpers/temporal.ts';
import { workflowBundles } from '../../helpers/workflow-bundles.ts';
import { createMailWorker, INPUT, interceptHeartbeats, type MailResult, type Scenario, Scenarios } from './mail-rig.ts';
import { reviewMail, type Timeouts } from './mail-workflows.ts';

// Failing is what most tests here are about; the SDK would log each attempt.
Runtime.install({ logger: new DefaultLogger('ERROR') });

export const TASK_QUEUE = 'mail';
export const TIMEOUTS: Timeouts = { heartbeatMs: 4_000 };

type React = Parameters<typeof startScriptedSmtp>[0];

/** Misbehaves at one stage, the first times it is come to. */
export const at =
  (stage: SmtpStage, reaction: SmtpReaction, times = 1): React =>
  (moment) =>
    moment.stage === stage && moment.time <= times ? reaction : undefined;

export const lastLines = (server: ScriptedSmtpServer): number =>
  server.moments.filter(({ stage }) => stage === 'end').length;

export type MailBench = {
  temporal: TestTemporal;
  scenarios: Scenarios;
  smtp(react?: React, port?: number): Promise<ScriptedSmtpServer>;
  start(
    scenario: Scenario,
    input?: Partial<typeof INPUT>,
    timeouts?: Timeouts,
  ): Promise<WorkflowHandle<typeof reviewMail>>;
  send(scenario: Scenario, input?: Partial<typeof INPUT>): Promise<MailResult>;
  /** The real client, whose heartbeats a test may lose, delay or see. */
  clientWith(heartbeat: Parameters<typeof interceptHeartbeats>[1]): Client;
  stop(): Promise<void>;
};

/** A Temporal server, a worker with the mail activities, and mail servers as they are asked for. */
export async function startMailBench(): Promise<MailBench> {
  const temporal = await connectTemporal();
  const scenarios = new Scenarios();
  const servers: ScriptedSmtpServer[] = [];
  const worker: Worker = await createMailWorker(temporal, TASK_QUEUE, scenarios, workflowBundles.mail);
  const running = worker.run();
  let counter = 0;

  const start: MailBench['start'] = async (scenario, input = {}, timeouts = TIMEOUTS) => {
    const name = `scenario-${++counter}`;
    scenarios.add(name, scenario);
    return await temporal.client.workflow.start(reviewMail, {
      taskQueue: TASK_QUEUE,
      workflowId: name,
      // A rule of its own: what one test unsubscribes concerns no other.
      args: [name, { ...INPUT, rule: name, ...input }, timeouts],
    });
  };

  return {
    temporal,
    scenarios,
    start,
    send: async (scenario, input) => await (await start(scenario, input)).result(),
    smtp: async (react, port) => {
      const server = await startScriptedSmtp(react, port);
      servers.push(server);
      return server;
    },
    clientWith: (heartbeat) => interceptHeartbeats(temporal.client, heartbeat),
    stop: async () => {
      worker.shutdown();
      await running;
      scenarios.close();
      await Promise.all(servers.map((server) => server.close()));
      await temporal.stop();
    },
  };
}
