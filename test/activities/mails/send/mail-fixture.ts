import { Client, type WorkflowHandle } from '@temporalio/client';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { pino } from 'pino';
import { createMailActivities, type MailActivityDeps } from '../../../../activities/mails/activities.ts';
import { createMailer, type Mailer } from '../../../../activities/mails/send/mailer.ts';
import type { HeartbeatClient } from '../../../../activities/mails/send/sending-mark.ts';
import type { TestTemporal } from '../../../helpers/temporal.ts';
import type { MailActivities } from './mail-workflows.ts';

/** Delays that are short enough for a test. */
export const QUICK: NonNullable<MailActivityDeps['timing']> = {
  deferred: { firstMs: 200, longestMs: 500 },
  unsent: { firstMs: 200, longestMs: 500 },
};

export const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

export type Scenario = Partial<MailActivityDeps> & { smtpUrl: string; socketTimeoutMs?: number };

/** The reviewers' activities, with a separate mail server for each scenario. */
export class Scenarios {
  readonly #made = new Map<string, { mailer: Mailer; activities: ReturnType<typeof createMailActivities> }>();

  add(name: string, { smtpUrl, socketTimeoutMs = 5_000, ...deps }: Scenario): void {
    const mailer = createMailer({ url: smtpUrl, from: 'Galley <galley@example.com>', socketTimeoutMs });
    const defaults = { mailer, unsubscribeKey: 'galley_key', logger, timing: QUICK };
    this.#made.set(name, { mailer, activities: createMailActivities({ ...defaults, ...deps }) });
  }

  get activities(): MailActivities {
    return {
      sendReviewMail: (scenario, input) => this.#of(scenario).sendReviewMail(input),
      sendOperatorMail: (scenario, input) => this.#of(scenario).sendOperatorMail(input),
    };
  }

  close(): void {
    for (const { mailer } of this.#made.values()) mailer.close();
  }

  #of(name: string): ReturnType<typeof createMailActivities> {
    const made = this.#made.get(name);
    if (made === undefined) throw new Error(`There is no scenario ${name}`);
    return made.activities;
  }
}

/** A worker with the product's heartbeat settings. With `workflows` it runs no activities. */
export async function createMailWorker(
  { nativeConnection: connection, namespace }: Pick<TestTemporal, 'nativeConnection' | 'namespace'>,
  taskQueue: string,
  scenarios: Scenarios,
  workflowBundle?: WorkflowBundleOption,
  only?: 'workflows',
): Promise<Worker> {
  return await Worker.create({
    connection,
    namespace,
    taskQueue,
    ...(workflowBundle === undefined ? {} : { workflowBundle }),
    ...(only === 'workflows' ? {} : { activities: scenarios.activities }),
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
    shutdownGraceTime: '1s',
  });
}

/** The current attempt of a mail's activity, or 0 while it is unknown. */
export async function pendingAttempt(handle: WorkflowHandle): Promise<number> {
  const { raw } = await handle.describe();
  return raw.pendingActivities?.[0]?.attempt ?? 0;
}

/** A client whose awaited heartbeats go through `heartbeat`, which may send the real one, or not. */
export function interceptHeartbeats(
  { connection, options: { namespace } }: Client,
  heartbeat: (real: () => Promise<void>, details: unknown) => Promise<void>,
): Client {
  const client = new Client({ connection, namespace });
  const real = client.activity.heartbeat.bind(client.activity);
  const intercepted: HeartbeatClient['activity']['heartbeat'] = async (token: unknown, details?: unknown) => {
    if (!(token instanceof Uint8Array)) throw new Error('Expected a task token');
    await heartbeat(() => real(token, details), details);
  };
  client.activity.heartbeat = intercepted;
  return client;
}
