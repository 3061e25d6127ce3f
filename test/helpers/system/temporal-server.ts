import { Client, Connection } from '@temporalio/client';
import { type DevServer, startDevServer } from '../../../embedded/temporal/dev-server.ts';
import { locateDevServer } from '../../../embedded/temporal/locate-dev-server.ts';
import { freePort } from '../free-port.ts';
import { LESS_COLLECTING } from '../less-collecting.ts';
import { PATIENT_CONNECTION } from '../patient-connection.ts';

export interface TemporalServer {
  address: string;
  /** Its database file. */
  dbFilename: string;
  /** Survives the server's restarts. */
  client: Client;
  /** Whether nothing of the workflow is under way on a worker: what comes next is a timer's or a signal's to begin. */
  atRest(workflowId: string): Promise<boolean>;
  kill(): Promise<void>;
  /** Starts it again on the same database file and port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The real dev server on a database file, which keeps everything across a crash. */
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
