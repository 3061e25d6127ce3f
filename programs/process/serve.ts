import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { portUnavailable } from '../../embedded/ports.ts';
import type { ErrorBody } from '../../web/http-error.ts';
import { foreignHost, type LocalHosts } from './local-hosts.ts';

interface Listening {
  host: string;
  /** The variable that sets the port, for the message when it is in use. */
  variable: string;
  /** 0: a free one. */
  port: number;
  /** Protects pages without a sign-in; undefined: they are served under any host. */
  local?: Omit<LocalHosts, 'host'>;
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
  /** The limit from the start of the connection (or of a later request on it) to the end of the headers. */
  headersMs: number;
  /** The same, to the end of the body. */
  requestMs: number;
  /** A kept connection waits this long for its next request, then closes without a response. */
  keepAliveMs: number;
  /** How often the first two are checked, which is also how late they may be. */
  checkMs: number;
  /** How long a client may take to close a connection after the final response. */
  lingerMs: number;
  /**
   * From a stop on, responses end their connection, and kept ones get this long for one more request. Without it, a
   * delivery that is on its way over a kept connection would be lost with it.
   */
  drainMs: number;
  /** A stop cuts responses that run longer. */
  stopMs: number;
}

const TIMEOUTS: HttpTimeouts = {
  // Real clients send their headers within this time.
  headersMs: 10_000,
  // A body of 1 MiB takes this long at 35 kB/s, GitHub's largest (25 MiB) at 900 kB/s.
  requestMs: 30_000,
  // Longer than the minute for which load balancers keep a connection: otherwise they send a delivery into a closing
  // one.
  keepAliveMs: 75_000,
  // With Node's default of half a minute, slow clients could stay four times as long as allowed.
  checkMs: 1_000,
  lingerMs: 1_000,
  drainMs: 0,
  stopMs: 5_000,
};

/**
 * Listens. The one place for timeouts and graceful stops of all servers.
 * @throws PortUnavailable if the address can't be listened on.
 */
export async function serve(
  app: RequestListener,
  { local, ...listening }: Listening,
  timeouts: Partial<HttpTimeouts> = {},
): Promise<HttpService> {
  const { headersMs, requestMs, keepAliveMs, checkMs, lingerMs, drainMs, stopMs } = { ...TIMEOUTS, ...timeouts };
  const options = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: checkMs,
    requireHostHeader: false,
  };
  const checked = requireHost(app, local && { ...local, host: listening.host });
  const server = createServer(options, (request, response) => {
    if (!server.listening) response.setHeader('Connection', 'close');
    checked(request, response);
  });
  rejectUnserved(server, lingerMs);
  const port = await listen(server, listening);
  return { url: listeningUrl({ ...listening, port }), port, stop: () => stop(server, { drainMs, stopMs }) };
}

async function listen(server: Server, { host, port, variable }: Omit<Listening, 'local'>): Promise<number> {
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

/**
 * A listening URL as links to pages have it: browsers have passkeys for a host with a name, and for no address. If
 * nothing listens on localhost's IPv6 address, they connect to 127.0.0.1.
 */
export function pagesUrl(url: string): string {
  return url.replace(/^http:\/\/127\.0\.0\.1(?=:|$)/, 'http://localhost');
}

type PlatformAddress = { host: string; platformPort: number; platformPublicUrl?: string | undefined };

/** The platform's URL as links to pages have it, for processes that don't serve it themselves. */
export function platformPagesUrl({ host, platformPort: port, platformPublicUrl }: PlatformAddress): string {
  return platformPublicUrl ?? pagesUrl(listeningUrl({ host, port }));
}

async function stop(server: Server, { drainMs, stopMs }: Pick<HttpTimeouts, 'drainMs' | 'stopMs'>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // That of http.Server would also close connections that are idle now.
    NetServer.prototype.close.call(server, () => resolve());
  });
  let idle: NodeJS.Timeout | undefined;
  const drained = setTimeout(() => {
    // A client that keeps its connection alive would keep the server open after its response.
    idle = setInterval(() => server.closeIdleConnections(), 100);
  }, drainMs);
  const cut = setTimeout(() => server.closeAllConnections(), stopMs);
  await closed;
  clearTimeout(drained);
  clearInterval(idle);
  clearTimeout(cut);
  // Ends Node's own timer.
  server.close();
}

/** Error codes of Node's parser for rejected requests. Anything else isn't HTTP. */
const STATUS_OF: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long'],
};
const NOT_HTTP = [400, 'this is not a valid HTTP request'] as const;

/**
 * Responds to requests that never reach an app, and to those that Node rejects without a body, in the format of all
 * other errors.
 * @param lingerMs how long a client may take to close a connection after the final response
 */
function rejectUnserved(server: Server, lingerMs: number): void {
  const newest = new WeakMap<Duplex, ServerResponse>();
  const unanswered = new WeakMap<Duplex, Set<ServerResponse>>();
  const ending = new WeakSet<Duplex>();
  const openSocket = (socket: Duplex): Set<ServerResponse> => {
    const responses = new Set<ServerResponse>();
    unanswered.set(socket, responses);
    // Later, because the rest of the last packet may still contain requests.
    socket.once('close', () => setImmediate(closeAll, responses));
    return responses;
  };
  server.on('request', ({ socket }, response) => {
    const ofSocket = unanswered.get(socket) ?? openSocket(socket);
    ofSocket.add(response);
    newest.set(socket, response);
    response.once('close', () => ofSocket.delete(response));
  });
  server.on('clientError', async (error: NodeJS.ErrnoException, socket) => {
    if (ending.has(socket)) return;
    ending.add(socket);
    const last = newest.get(socket);
    const broken = last?.req.complete === false ? last : undefined;
    // Earlier complete requests on this connection get their responses first, because clients match them by order.
    const before = [...(unanswered.get(socket) ?? [])].filter((response) => response !== broken);
    if (error.code !== 'ECONNRESET') await Promise.all(before.map(closed));
    // A response that has begun can't become an error.
    if (error.code === 'ECONNRESET' || !socket.writable || broken?.headersSent) {
      socket.destroy();
      return;
    }
    const [status, message] = STATUS_OF[error.code ?? ''] ?? NOT_HTTP;
    socket.end(rawResponse(status, message));
    const cut = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(cut));
  });
  server.on('checkExpectation', (_request, response) => {
    answer(response, 417, 'no expectation but 100-continue can be met');
  });
}

/** Node closes only the response whose turn it is: pipelined ones behind it would never end. */
function closeAll(responses: ReadonlySet<ServerResponse>): void {
  for (const response of responses) response.destroy().emit('close');
}

async function closed(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => response.once('close', () => resolve()));
}

/** HTTP/1.1 requires one Host header; Node's own response has no body, and of several it reads the first. */
function requireHost(app: RequestListener, local: LocalHosts | undefined): RequestListener {
  return (request, response) => {
    const hosts = request.headersDistinct.host?.length ?? 0;
    if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) {
      return answer(response, 400, 'expected one Host header');
    }
    const foreign = local && foreignHost(request, local);
    if (foreign === undefined) app(request, response);
    else answer(response, 403, foreign);
  };
}

function answer(response: ServerResponse, status: number, message: string): void {
  const { headers, body } = errorResponse(message);
  response.writeHead(status, headers).end(body);
}

function rawResponse(status: number, message: string): string {
  const { headers, body } = errorResponse(message);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head.join('')}\r\n${body}`;
}

/** Closes the connection, because the rest of what the client sent can't be parsed. */
function errorResponse(error: string): { headers: Record<string, string | number>; body: string } {
  const content: ErrorBody = { error };
  const body = JSON.stringify(content);
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': randomUUID(),
    Connection: 'close',
  };
  return { headers, body };
}
