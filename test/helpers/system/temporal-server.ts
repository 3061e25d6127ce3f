import { Client, Connection } from '@temporalio/client';
import { type DevServer, startDevServer } from '../../../embedded/temporal/dev-server.ts';
import { locateDevServer } from '../../../embedded/temporal/locate-dev-server.ts';

export interface TemporalServer {
  address: string;
  /** Survives the server's restarts. */
  client: Client;
  kill(): Promise<void>;
  /** Starts it again on the same database file and port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The real dev server on a database file, which keeps everything across a crash. */
export async function startTemporalServer(dbFilename: string): Promise<TemporalServer> {
  const executable = await locateDevServer();
  let server: DevServer = await startDevServer({ executable, dbFilename });
  const port = Number(server.address.split(':').at(-1));
  const connection = await Connection.connect({ address: server.address });
  return {
    address: server.address,
    client: new Client({ connection }),
    kill: () => server.kill(),
    restart: async () => {
      server = await startDevServer({ executable, dbFilename, port });
    },
    stop: async () => {
      await connection.close();
      await server.stop();
    },
  };
}
