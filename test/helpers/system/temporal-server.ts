import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { type DevServer, startDevServer } from '../../../embedded/temporal/dev-server.ts';
import { locateDevServer } from '../../../embedded/temporal/locate-dev-server.ts';
import { freePort } from '../free-port.ts';
import { LESS_COLLECTING } from '../less-collecting.ts';
import { PATIENT_CONNECTION } from '../patient-connection.ts';
import { unsyncedFolder } from '../unsynced-folder.ts';
import type { Cleanups } from './cleanups.ts';

export interface TemporalServer {
  address: string;
  /** Its database file. */
  dbFilename: string;
  /** Survives the server's restarts. */
  client: Client;
  /** Whether the workflow has no pending task or activity, so that only a timer or a signal can continue it. */
  atRest(workflowId: string): Promise<boolean>;
  kill(): Promise<void>;
  /** Restarts it with the same database file and port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The real dev server on a database file, so that its state survives a crash. */
export async function startTemporalServer(dbFilename: string, namespace = 'default'): Promise<TemporalServer> {
  const executable = await locateDevServer();
  const port = await freePort();
  const environment = { ...process.env, ...LESS_COLLECTING };
  const start = () => startDevServer({ executable, dbFilename, namespace, port, environment });
  let server: DevServer = await start();
  const connection = await Connection.connect({ address: server.address, ...PATIENT_CONNECTION });
  const client = new Client({ connection, namespace });
  return {
    address: server.address,
    dbFilename,
    client,
    atRest: async (workflowId) => {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      return !raw.pendingWorkflowTask && (raw.pendingActivities ?? []).length === 0;
    },
    kill: () => server.kill(),
    restart: async () => {
      server = await start();
    },
    stop: async () => {
      await connection.close();
      await server.stop();
    },
  };
}

/** A Temporal server for one test, whose database file is in memory. */
export async function startUnsyncedTemporal(cleanups: Cleanups): Promise<TemporalServer> {
  const folder = await unsyncedFolder('galley-temporal-');
  cleanups.add(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const temporal = await startTemporalServer(join(folder, 'temporal.db'));
  cleanups.add(temporal.stop);
  return temporal;
}
