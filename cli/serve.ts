import { createServer, type RequestListener, type Server } from 'node:http';
import { portUnavailable } from '../embedded/ports.ts';
import { answerUnserved, requireHost } from './unserved-requests.ts';

export interface Listening {
  host: string;
  /** The variable that chooses the port, for the message when it is taken. */
  variable: string;
  /** 0: a free one. */
  port: number;
}

export interface HttpService {
  /** Where it answers, without a slash at the end. */
  url: string;
  port: number;
  /** Takes no new connection, lets running responses end for up to `stopMs`, then cuts them. */
  stop(): Promise<void>;
}

/** How long clients may take. Whoever takes longer is answered 408, and its connection ends. */
export interface HttpTimeouts {
  /** From the connection's begin, or the request's first byte on one that was used before, to the end of the headers. */
  headersMs: number;
  /** The same to the end of the body. */
  requestMs: number;
  /** Until the next request of a connection that is kept; it ends without an answer. */
  keepAliveMs: number;
  /** How often the first two are looked at: one is late by as much. */
  checkMs: number;
  /** From a response that ends the connection until the client ends it too. */
  lingerMs: number;
  /** Until responses that are under way at a stop are cut. */
  stopMs: number;
}

const TIMEOUTS: HttpTimeouts = {
  // A client that needs longer for its headers is not one of ours.
  headersMs: 10_000,
  // The largest body (1 MiB) takes this long at 35 kB/s.
  requestMs: 30_000,
  // Longer than the minute that load balancers keep a connection: else they send a delivery into one that just ends.
  keepAliveMs: 75_000,
  // Node's own half a minute would let slow clients stay four times as long as they may.
  checkMs: 1_000,
  lingerMs: 1_000,
  stopMs: 5_000,
};

/**
 * Listens; the one place where the timeouts and the graceful stop of our servers are decided.
 * @throws PortUnavailable when the address can't be listened on.
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
  answerUnserved(server, lingerMs);
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

/** What a client on this machine writes for a listening address; other processes name the server by it too. */
export function listeningUrl({ host, port }: Pick<Listening, 'host' | 'port'>): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

async function stop(server: Server, stopMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // A client that keeps its connection alive would hold the server open after its answer.
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), stopMs);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}
