import { Agent, buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.ts';
import { errorMessage } from './error-code.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 20_000;

type Connector = ReturnType<typeof buildConnector>;
type ConnectOptions = Parameters<Connector>[0];
type Socket = Exclude<Parameters<Parameters<Connector>[1]>[1], null>;

function connectTo(connect: Connector, options: ConnectOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(options, (error, socket) => {
      if (error !== null) reject(error);
      else resolve(socket);
    });
  });
}

/**
 * undici takes a reset for the end of a body whose length nobody told, and half a page would be kept for the whole. By
 * another name it is the failure that it is.
 */
function renameReset(error: Error): void {
  if ('code' in error && error.code === 'ECONNRESET') Object.assign(error, { code: 'RESET' });
}

function defaultPort(protocol: string): number {
  return protocol === 'https:' ? 443 : 80;
}

/**
 * An undici Agent whose every new connection asks the guard first and then goes to an address that the guard named:
 * the name is not looked up again, and no proxy variable is read. TLS still checks the certificate for the name.
 */
export function createPinnedAgent(options: { guard: AddressGuard; maxConnectionsPerOrigin: number }): Agent {
  const base = buildConnector({ timeout: CONNECT_TIMEOUT_MS });

  async function connectPinned(target: ConnectOptions): Promise<Socket> {
    const port = target.port === '' ? defaultPort(target.protocol) : Number(target.port);
    let lastError: unknown = new Error('no address');
    for (const address of await options.guard.addressesFor(target.hostname, port)) {
      try {
        const socket = await connectTo(base, { ...target, hostname: address });
        return socket.prependListener('error', renameReset);
      } catch (error) {
        lastError = error;
      }
    }
    throw lastError;
  }

  return new Agent({
    connections: options.maxConnectionsPerOrigin,
    pipelining: 1,
    headersTimeout: HEADERS_TIMEOUT_MS,
    // The fetcher watches bodies itself, to name the reason.
    bodyTimeout: 0,
    keepAliveTimeout: 10_000,
    connect: (target, callback) => {
      connectPinned(target).then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(new Error(errorMessage(error), { cause: error }), null),
      );
    },
  });
}
