import { createServer } from 'node:net';
import { errorCode } from '../base/error-code.ts';

/** Thrown if an address can't be listened on; the message is for the user. */
class PortUnavailable extends Error {
  override readonly name = 'PortUnavailable';
}

/** The message for an address that can't be listened on. `variable` is the one that sets the port. */
export function portUnavailable(error: unknown, listener: { host: string; port: number; variable: string }): unknown {
  const code = errorCode(error);
  const { host, port, variable } = listener;
  if (code === 'EADDRINUSE')
    return new PortUnavailable(
      `Port ${port} on ${host} is in use: stop what listens there, or set ${variable} to another port (0: a free one).`,
    );
  if (code === 'EACCES')
    return new PortUnavailable(
      `Port ${port} on ${host} may not be used by this user: set ${variable} to a port above 1023.`,
    );
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new PortUnavailable(
      `${host} is not an address of this machine: set HOST to one that is, such as 127.0.0.1.`,
    );
  return error;
}

/**
 * A port that is free now: `port` itself, or for 0 one of the system's choice.
 * @throws PortUnavailable if `port` is taken.
 */
export async function freePort(listener: { host: string; port: number; variable: string }): Promise<number> {
  const server = createServer();
  return await new Promise<number>((resolve, reject) => {
    server.once('error', (error) => reject(portUnavailable(error, listener)));
    server.listen(listener.port, listener.host, () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : listener.port;
      server.close(() => resolve(port));
    });
  });
}
