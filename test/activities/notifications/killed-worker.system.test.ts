import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { targetsOf } from '../../../activities/notifications/targets.ts';
import { TASK_QUEUES, WORKFLOW_IDS } from '../../../contract/names.ts';
import type { NotificationEvent } from '../../../contract/notification.ts';
import { galleyConfig } from '../../../programs/config/galley-yaml.ts';
import { createNotificationWorker } from '../../../worker/worker.ts';
import { notification } from '../../../workflows/notification.ts';
import { type NotificationReceiver, startNotificationReceiver } from '../../helpers/notification-receiver.ts';
import { startProcess } from '../../helpers/platform-worker-process.ts';
import { runWorker } from '../../helpers/run-worker.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { connectTemporal, type TestTemporal } from '../../helpers/temporal.ts';
import { workflowBundles } from '../../helpers/workflow-bundles.ts';
import type { NotificationWorkerOptions } from './notification-worker-main.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const TASK_QUEUE = `${TASK_QUEUES.orchestrator}-killed`;

const EVENT: NotificationEvent = {
  id: 'served-1',
  at: '2026-11-21T08:00:00.000Z',
  type: 'served',
  data: { site: 'docs', domain: 'docs.example.com', version: 'v1', jobId: 'se_1', rolledBack: false },
};

describe('a worker killed after it sent a notification', () => {
  let temporal: TestTemporal;
  let receiver: NotificationReceiver;
  const stops: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    temporal = await connectTemporal();
    receiver = await startNotificationReceiver();
  });
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
    await receiver.close();
    await temporal.stop();
  });

  it('leaves the notification to another worker, which sends it again with the same id', async () => {
    const { address, namespace, nativeConnection: connection, client } = temporal;
    const adminApi = { url: 'http://127.0.0.1', key: 'unused' };
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const { notify } = galleyConfig.parse({ adminApi, notify: [{ webhook: receiver.url, secret }] });
    const [target] = targetsOf(notify);
    if (target === undefined) throw new Error('The target is missing');
    const { number, host, hash } = target;
    // The receiver accepts the notification, but the worker gets no response.
    receiver.answer = () => {};

    const options: NotificationWorkerOptions = { address, namespace, taskQueue: TASK_QUEUE, notify };
    const child = await startProcess('test/activities/notifications/notification-worker-main.ts', options);
    stops.push(child.kill);
    const { orchestrator: workflowBundle } = workflowBundles;
    const workflows = runWorker(await Worker.create({ connection, namespace, taskQueue: TASK_QUEUE, workflowBundle }));
    stops.push(workflows.stop);
    const handle = await client.workflow.start(notification, {
      workflowId: WORKFLOW_IDS.notification('docs', EVENT.id, hash),
      taskQueue: TASK_QUEUE,
      args: [{ site: 'docs', event: EVENT, target: { number, host, hash } }],
    });
    await waitFor(() => receiver.received.length === 1, { describe: 'sent it' });
    await child.kill();

    receiver.answer = (response) => response.end();
    const logger = pino({ level: 'silent' });
    const survivor = runWorker(await createNotificationWorker({ ...options, connection, logger }));
    stops.push(survivor.stop);
    await expect(handle.result()).resolves.toEqual({ status: 200 });
    expect(receiver.received).toHaveLength(2);
    const [first, second] = receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
  });
});
