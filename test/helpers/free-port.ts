import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** The variables with which `galley up` takes free ports. */
export const FREE_PORTS = {
  PORT: '0',
  PLATFORM_PORT: '0',
  DEPLOYMENT_PORT: '0',
  TEMPORAL_PORT: '0',
  TEMPORAL_UI_PORT: '0',
};

/**
 * Below the ephemeral ports (on Linux from 32768, elsewhere from 49152), so that no connection and no server on port 0
 * takes the port before the program listens on it, or while the program restarts.
 */
const LOWEST = 12_000;
const HIGHEST = 32_000;

/** A free port of 127.0.0.1, for a program that can't choose one itself. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
