import { createServer, type RequestListener, type Server } from 'node:http';
import { portUnavailable } from '../../embedded/ports.ts';
import { rejectUnserved, requireHost } from './unserved-requests.ts';

export interface Listening {
  host: string;
  /** The variable that sets the port, for the message when it is in use. */
  variable: string;
  /** 0: a free one. */
  port: number;
}

export interface HttpService {
  /** The server's URL, without a trailing slash. */
  url: string;
  port: number;
  /** Takes no new connections, lets responses finish for up to `stopMs`, then cuts them. */
  stop(): Promise<void>;
}

/** Timeouts of clients. A slower client gets 408, and its connection is closed. */
export interface HttpTimeouts {
  /** From the start of the connection, or of the request on a reused one, to the end of the headers. */
  headersMs: number;
  /** The same, to the end of the body. */
  requestMs: number;
  /** Until the next request on a kept connection; then it closes without a response. */
  keepAliveMs: number;
  /** How often the first two are checked, which is also how late they may be. */
  checkMs: number;
  /** From the last response until the client closes the connection. */
  lingerMs: number;
  /** Until running responses are cut at a stop. */
  stopMs: number;
}

const TIMEOUTS: HttpTimeouts = {
  // Real clients send their headers within this time.
  headersMs: 10_000,
  // The largest body (1 MiB) takes this long at 35 kB/s.
  requestMs: 30_000,
  // Longer than the minute for which load balancers keep a connection: otherwise they send a delivery into a closing
  // one.
  keepAliveMs: 75_000,
  // With Node's default of half a minute, slow clients could stay four times as long as allowed.
  checkMs: 1_000,
  lingerMs: 1_000,
  stopMs: 5_000,
};

/**
 * Listens. The one place for timeouts and graceful stops of all servers.
 * @throws PortUnavailable if the address can't be listened on.
 */
export async function serve(
  app: RequestListener,
  listening: Listening,
  timeouts: Partial<HttpTimeouts> = {},
): Promise<HttpService> {
  const { headersMs, requestMs, keepAliveMs, checkMs, lingerMs, stopMs } = { ...TIMEOUTS, ...timeouts };
  const options = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: checkMs,
    requireHostHeader: false,
  };
  const server = createServer(options, requireHost(app));
  rejectUnserved(server, lingerMs);
  const port = await listen(server, listening);
  return { url: listeningUrl({ ...listening, port }), port, stop: () => stop(server, stopMs) };
}

async function listen(server: Server, { host, port, variable }: Listening): Promise<number> {
  return await new Promise((resolve, reject) => {
    server.once('error', (error) => reject(portUnavailable(error, { host, port, variable })));
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** The host that local clients use for a listening address; other processes use it in URLs too. */
export function listeningUrl({ host, port }: Pick<Listening, 'host' | 'port'>): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

async function stop(server: Server, stopMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // A client that keeps its connection alive would keep the server open after its response.
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), stopMs);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}
