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
  /** Takes no new connection, lets running answers end for up to `STOP_TIMEOUT_MS`, then cuts them. */
  stop(): Promise<void>;
}

/** A client that needs longer for its headers is not one of ours. */
const HEADERS_TIMEOUT_MS = 10_000;

/** The largest body (1 MiB) takes this long at 35 kB/s. */
const REQUEST_TIMEOUT_MS = 30_000;

const STOP_TIMEOUT_MS = 5_000;

/**
 * Listens; the one place where the timeouts and the graceful stop of our servers are decided.
 * @throws PortUnavailable when the address can't be listened on.
 */
export async function serve(app: RequestListener, listening: Listening): Promise<HttpService> {
  const timeouts = { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS };
  const server = createServer({ ...timeouts, requireHostHeader: false }, requireHost(app));
  answerUnserved(server);
  const port = await listen(server, listening);
  return { url: listeningUrl({ ...listening, port }), port, stop: () => stop(server) };
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

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // A client that keeps its connection alive would hold the server open after its answer.
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}
