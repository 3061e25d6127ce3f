import { InterceptingCall, type Interceptor, type Metadata, status } from '@grpc/grpc-js';
import { Client, Connection, isGrpcServiceError, ServiceError } from '@temporalio/client';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';
import { createTemporalGateway, type TemporalGateway } from '../../api/temporal-gateway.ts';
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

interface Receiver {
  gateway: TemporalGateway;
  client: Client;
  /** How many calls the server has refused, by gRPC code. */
  refused: ReadonlyMap<number, number>;
}

/** Runs the restless workflow and a gateway on the receiver's connection. */
async function withReceiver(use: (receiver: Receiver) => Promise<void>): Promise<void> {
  const refused = new Map<number, number>();
  const countRefused: Interceptor = (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start(metadata: Metadata, _listener, next) {
        next(metadata, {
          onReceiveStatus({ code, ...rest }, pass) {
            if (code !== status.OK) refused.set(code, (refused.get(code) ?? 0) + 1);
            pass({ code, ...rest });
          },
        });
      },
    });
  const temporal = await connectTemporal();
  const interceptors = [...(RECEIVER_CONNECTION.interceptors ?? []), countRefused];
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
    await worker.runUntil(use({ gateway, client: temporal.client, refused }));
  } finally {
    await connection.close();
    await temporal.stop();
  }
}

const SITE = { site: 'restless', domain: 'docs.example.com' };

test('signals that the server rejects because the workflow is closing are retried until it accepts them', async () => {
  await withReceiver(async ({ gateway, client, refused }) => {
    const rejections = () => [...refused.values()].reduce((sum, count) => sum + count, 0);
    for (let index = 0; rejections() < REJECTIONS; index += 1) {
      await Promise.all([gateway.publish(SITE, signal(index)), gateway.publish(SITE, signal(index))]);
    }
    const { status: state } = await client.workflow.getHandle('export:restless').describe();
    expect(state.name).toBe('RUNNING');
  });
});

/** Publishes as a CMS that resends after a 503: on a busy machine, each attempt of one call may meet a closing workflow. */
async function publishUntilAccepted(gateway: TemporalGateway, index: number): Promise<void> {
  for (;;) {
    try {
      return await gateway.publish(SITE, signal(index));
    } catch (error) {
      const cause = error instanceof ServiceError ? error.cause : undefined;
      if (!isGrpcServiceError(cause) || cause.code !== status.RESOURCE_EXHAUSTED) throw error;
    }
  }
}

test('an update is retried if the server drops the workflow task that handled it, because an event arrived', async () => {
  await withReceiver(async ({ gateway, refused }) => {
    await gateway.publish(SITE, signal(0));
    for (let index = 1; !refused.has(status.FAILED_PRECONDITION); index += 1) {
      const paused = gateway.update(SITE.site, { name: 'pause', args: [{ actor: 'ada' }] }, 60_000);
      const published = publishUntilAccepted(gateway, index);
      expect(await paused).toBe('paused');
      await published;
    }
  });
});
