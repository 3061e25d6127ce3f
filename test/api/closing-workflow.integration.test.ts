import { InterceptingCall, type Interceptor, type Metadata, status } from '@grpc/grpc-js';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';
import { createTemporalGateway } from '../../api/temporal-gateway.ts';
import { TASK_QUEUES } from '../../contract/names.ts';
import type { PublishedSignal } from '../../contract/publish-event.ts';
import { connectTemporal } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });

/** The server rejects some of the signals to a workflow that keeps closing. */
const REJECTIONS = 5;

function signal(index: number): PublishedSignal {
  const at = new Date().toISOString();
  const id = String(index);
  return {
    deliveries: [{ id, source: 'token', receivedAt: at, dedupeMs: 60_000 }],
    newest: { source: 'token', topic: '', action: 'publish', id, title: id, url: '', author: '', at },
  };
}

test('signals that the server rejects because the workflow is closing are retried until it accepts them', async () => {
  let rejections = 0;
  const countRejections: Interceptor = (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start(metadata: Metadata, _listener, next) {
        next(metadata, {
          onReceiveStatus(received, pass) {
            if (received.code !== status.OK) rejections += 1;
            pass(received);
          },
        });
      },
    });
  const temporal = await connectTemporal();
  const interceptors = [...(RECEIVER_CONNECTION.interceptors ?? []), countRejections];
  const connection = await Connection.connect({ address: temporal.address, ...RECEIVER_CONNECTION, interceptors });
  try {
    const worker = await Worker.create({
      connection: temporal.nativeConnection,
      namespace: temporal.namespace,
      taskQueue: TASK_QUEUES.orchestrator,
      workflowBundle: workflowBundles.restless,
    });
    const gateway = createTemporalGateway({
      client: new Client({ connection, namespace: temporal.namespace }),
      searchAttributesReady: () => false,
      signalDeadlineMs: 60_000,
    });
    await worker.runUntil(async () => {
      for (let index = 0; rejections < REJECTIONS; index += 1) {
        const site = { site: 'restless', domain: 'docs.example.com' };
        await Promise.all([gateway.publish(site, signal(index)), gateway.publish(site, signal(index))]);
      }
    });
    const { status: state } = await temporal.client.workflow.getHandle('export:restless').describe();
    expect(state.name).toBe('RUNNING');
  } finally {
    await connection.close();
    await temporal.stop();
  }
});
