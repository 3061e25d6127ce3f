import { Context } from '@temporalio/activity';
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import type { NotificationEvent } from '../../contract/notification.ts';
import { notConfigured } from '../not-configured.ts';
import type { ReadSite } from '../sites/read-site.ts';
import type { NotificationInput } from './send-notification.ts';
import type { ConfiguredTarget } from './targets.ts';

type StartNotificationsDeps = {
  targets: readonly ConfiguredTarget[];
  readSite: ReadSite;
  /** The worker's own client by default. */
  client?: Client | undefined;
};

/** A workflow task of a killed worker times out after this. Temporal's default is 10 s. */
const TASK_TIMEOUT = '5s';

/**
 * Starts one delivery per event and target that wants it. May be repeated: a delivery that was started before counts as
 * started. Throws `NotConfigured` (not-configured.ts) if this worker knows neither a target nor the site.
 */
export function createStartNotifications({ targets, readSite, client: own }: StartNotificationsDeps) {
  return async function startNotifications(input: { site: string; events: NotificationEvent[] }): Promise<void> {
    const { site, events } = input;
    if (targets.length === 0 && (await readSite(site)) === undefined) throw notConfigured(`the site ${site}`);
    const context = Context.current();
    const client = own ?? context.client;
    const deliveries = events.flatMap((event) =>
      targets.filter(({ on }) => on.has(event.type)).map(({ number, host, hash }) => ({ event, number, host, hash })),
    );
    await Promise.all(
      deliveries.map(async ({ event, ...target }) => {
        const start: NotificationInput = { site, event, target };
        await startOnce(client, start, context.info.taskQueue);
      }),
    );
  };
}

async function startOnce(client: Client, input: NotificationInput, taskQueue: string): Promise<void> {
  const { site, event, target } = input;
  try {
    await client.workflow.start(WORKFLOW_TYPES.notification, {
      workflowId: WORKFLOW_IDS.notification(site, event.id, target.hash),
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowTaskTimeout: TASK_TIMEOUT,
      taskQueue,
      args: [input],
      memo: { site, type: event.type, host: target.host },
      staticSummary: `${event.type} of ${site} to ${target.host}`.slice(0, 200),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
