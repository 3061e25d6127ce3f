import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

export type SilentServer = {
  port: number;
  /** How many are open. */
  connections(): number;
  stop(): Promise<void>;
};

/** Accepts every connection on a free port of 127.0.0.1 and never responds. */
export async function startSilentServer(): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return {
    port: address.port,
    connections: () => sockets.size,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
