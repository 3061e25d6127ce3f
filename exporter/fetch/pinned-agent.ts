import { Agent, buildConnector } from 'undici';
import { type AddressGuard, portOf } from './address-guard.ts';
import { errorMessage } from './error-code.ts';

const CONNECT_TIMEOUT_MS = 10_000;

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
 * undici takes a reset for the end of a body without a length, and would return half a page as complete. Under another
 * name it counts as a failure.
 */
function renameReset(error: Error): void {
  if ('code' in error && error.code === 'ECONNRESET') Object.assign(error, { code: 'RESET' });
}

/**
 * An undici Agent that asks the guard before each new connection and connects to the address that the guard returned.
 * It never resolves a name again and ignores proxy variables. TLS still checks the certificate against the name.
 */
export function createPinnedAgent(options: { guard: AddressGuard; maxConnectionsPerOrigin: number }): Agent {
  const base = buildConnector({ timeout: CONNECT_TIMEOUT_MS });

  async function connectPinned(target: ConnectOptions): Promise<Socket> {
    let lastError: unknown = new Error('no address');
    for (const address of await options.guard.addressesFor(target.hostname, portOf(target))) {
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
    // The fetcher has its own timeouts, which report the reason.
    headersTimeout: 0,
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
