import { once } from 'node:events';
import type { Server } from 'node:http';

/** Listens on 127.0.0.1 (port 0: a free one) and returns the origin. */
export async function listenOnLoopback(server: Server, port: number): Promise<string> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The site has no port');
  return `http://127.0.0.1:${address.port}`;
}
