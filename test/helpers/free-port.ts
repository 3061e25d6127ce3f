import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems hand out by themselves (Linux from 32768, others from 49152): there no server on port 0
 * and no connection takes one between our looking and the program's listening, nor while a program is away.
 */
const LOWEST = 12_000;
const HIGHEST = 32_000;

/** A port of 127.0.0.1 that nothing listens on, for a program that can't choose one itself. */
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
