import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { NativeConnection } from '@temporalio/worker';
import { type DevServer, type DevServerOptions, startDevServer as start } from '../../embedded/temporal/dev-server.ts';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import { freePort } from './free-port.ts';
import { LESS_COLLECTING } from './less-collecting.ts';
import { locateTimeSkippingServer } from './locate-time-skipping-server.ts';
import { PATIENT_CONNECTION } from './patient-connection.ts';
import { namespaceOf, SHARED, sharedServer } from './shared-names.ts';

export interface TestTemporal {
  /** host:port for `TEMPORAL_ADDRESS`. */
  address: string;
  namespace: string;
  client: Client;
  /** For workers: `Worker.create({ connection: temporal.nativeConnection, namespace: temporal.namespace, … })`. */
  nativeConnection: NativeConnection;
  stop(): Promise<void>;
}

export interface TestDevServer extends DevServer, TestTemporal {
  stop(): Promise<void>;
}

/**
 * The Temporal dev server that all files of the run share, in a namespace that only the calling test file uses. Call
 * `stop()` in afterAll, after the workers have shut down. Workflows may be left open: no other file sees them.
 */
export async function connectTemporal(): Promise<TestTemporal> {
  const address = sharedServer(SHARED.temporal);
  const namespace = namespaceOf(expect.getState().testPath ?? '');
  const connection = await Connection.connect({ address, ...PATIENT_CONNECTION });
  const nativeConnection = await NativeConnection.connect({ address });
  const client = new Client({ connection, namespace });
  return {
    ...{ address, namespace, client, nativeConnection },
    async stop() {
      await nativeConnection.close();
      await connection.close();
    },
  };
}

/**
 * A separate Temporal dev server, for a test that stops or kills it. Other tests use `connectTemporal`. It has free
 * ports, our search attributes, and an in-memory database unless `dbFilename` is given. Call `stop()` in afterAll, after
 * the workers have shut down. `kill()` crashes it. To restart it, call `startDevServer` with the same `dbFilename` and
 * `port`.
 */
export async function startDevServer(options: Omit<DevServerOptions, 'executable'> = {}): Promise<TestDevServer> {
  const port = options.port ?? (await freePort());
  const environment = { ...process.env, ...LESS_COLLECTING, ...options.environment };
  const server = await start({ ...options, environment, port, executable: await locateDevServer() });
  const connection = await Connection.connect({ address: server.address, ...PATIENT_CONNECTION });
  const nativeConnection = await NativeConnection.connect({ address: server.address });
  const close = async (): Promise<void> => {
    await connection.close();
    await nativeConnection.close();
  };
  return {
    ...server,
    client: new Client({ connection }),
    nativeConnection,
    stop: async () => {
      await close();
      await server.stop();
    },
    kill: async () => {
      await server.kill();
      await close().catch(() => {});
    },
  };
}

/** The SDK gives the server 5 s to start, which may repeatedly be too short for a Java program on a busy machine. */
const START_ATTEMPTS = 40;

/** A time-skipping environment (no UI, little visibility, no search attributes). Call `teardown()` in afterAll. */
export async function startTimeSkipping(): Promise<TestWorkflowEnvironment> {
  // Most files use the dev server, and the package has many modules.
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const path = await locateTimeSkippingServer();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      if (attempt >= START_ATTEMPTS) throw error;
      await sleep(1_000);
    }
  }
}
