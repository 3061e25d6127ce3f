import { randomBytes } from 'node:crypto';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { equalInConstantTime } from '../../base/equal-in-constant-time.ts';
import { type AddressGuard, portOf } from '../fetch/address-guard.ts';
import { errorMessage } from '../fetch/error-code.ts';

/** A forward proxy for a browser or an agent that only lets permitted requests through. */
export type FilteringProxy = {
  /** `http://127.0.0.1:port`, or the path of the socket. */
  address: string;
  /** Unique to this proxy, because any local user can reach its port. */
  credentials: { username: string; password: string };
  close(): Promise<void>;
};

/** The idle timeout of a connection. */
const SILENCE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
const CHALLENGE = 'Basic realm="galley"';
/** Hop-by-hop headers, which a proxy must not forward. */
const HOP_BY_HOP = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'proxy-authorization',
]);

type ProxyOptions = {
  guard: AddressGuard;
  isAdmitted: (url: URL, method: string) => boolean;
  /** The most bytes to receive per connection. */
  maxBytes: number;
  onRefused: (target: string, reason: string) => void;
  /** Whether the response to a refused request includes the reason. */
  explainRefusals?: boolean;
  /** Listens on this socket without a password; the folder's permissions control access. */
  socketPath?: string;
  /** Connections at a time; any more are closed. */
  maxConnections?: number;
  /** The idle timeout of a connection; 0 for none. */
  silenceMs?: number;
};

/**
 * Starts a forward proxy on loopback or on a Unix socket. Requests (`http:`) and tunnels (`https:`) need `isAdmitted`,
 * and connect only to IP addresses that the guard returns. Neither a redirect nor a changed DNS record can bypass
 * this. `onRefused` is called for every refused request.
 */
export async function startFilteringProxy(options: ProxyOptions): Promise<FilteringProxy> {
  const { socketPath } = options;
  const sockets = new Set<Duplex>();
  const credentials = { username: 'galley', password: randomBytes(16).toString('hex') };
  const server = createProxyServer({ ...options, sockets, expected: basicAuthorization(credentials) });
  if (options.maxConnections !== undefined) server.maxConnections = options.maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath === undefined ? { port: 0, host: '127.0.0.1' } : { path: socketPath }, resolve);
  });
  const at = server.address();
  if (at === null) throw new Error('the proxy has no port');
  return {
    address: typeof at === 'string' ? at : `http://127.0.0.1:${at.port}`,
    credentials,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function basicAuthorization({ username, password }: FilteringProxy['credentials']): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** `sockets` are all open ones; `expected` is the right `Proxy-Authorization`. */
type Proxy = ProxyOptions & { sockets: Set<Duplex>; expected: string };

function createProxyServer(proxy: Proxy): Server {
  const server = createServer((incoming, reply) => {
    if (!isAuthorized(proxy, incoming)) {
      reply.writeHead(407, { 'proxy-authenticate': CHALLENGE }).end();
      return;
    }
    forward(proxy, incoming, reply).catch((error: unknown) => {
      const body = refuse(proxy, incoming, error);
      reply.writeHead(403, { 'content-length': Buffer.byteLength(body) }).end(body);
    });
  });
  server.on('connection', (socket: Socket) => keep(proxy, socket));
  server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    if (!isAuthorized(proxy, incoming)) {
      client.end(
        `HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: ${CHALLENGE}\r\ncontent-length: 0\r\n\r\n`,
      );
      return;
    }
    tunnel(proxy, incoming.url ?? '', { client, head }).catch((error: unknown) => {
      const body = refuse(proxy, incoming, error);
      client.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  });
  server.on('upgrade', (_incoming, client: Duplex) => client.destroy());
  return server;
}

function isAuthorized({ socketPath, expected }: Proxy, { headers }: IncomingMessage): boolean {
  if (socketPath !== undefined) return true;
  return equalInConstantTime(headers['proxy-authorization'] ?? '', expected);
}

async function forward(proxy: Proxy, incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
  const target = incoming.url ?? '';
  // A request for the proxy itself has a path only.
  if (!URL.canParse(target)) {
    reply.writeHead(400).end();
    return;
  }
  const url = new URL(target);
  if (url.protocol !== 'http:') throw new Error(`refused: ${url.protocol} is not for a proxy`);
  const { address, port } = await addressOf(proxy, url, incoming.method ?? '');
  const headers = Object.entries(incoming.headers).filter(([name]) => !HOP_BY_HOP.has(name));
  const outgoing = httpRequest({
    host: address,
    port,
    method: incoming.method,
    path: `${url.pathname}${url.search}`,
    headers: { ...Object.fromEntries(headers), host: url.host },
    setHost: false,
    agent: false,
    timeout: proxy.silenceMs ?? SILENCE_MS,
  });
  outgoing.once('timeout', () => outgoing.destroy());
  outgoing.once('socket', (socket) => keep(proxy, socket));
  outgoing.once('error', () => reply.destroy());
  outgoing.once('response', (response) => {
    if (!writeHead(reply, response)) {
      outgoing.destroy();
      return;
    }
    countBytes(response, proxy.maxBytes, () => response.destroy(new Error('the response is too large')));
    // If one side ends early, the pipeline closes the other.
    pipeline(response, reply, () => undefined);
  });
  reply.once('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

type TunnelEnd = { client: Duplex; head: Buffer };

async function tunnel(proxy: Proxy, authority: string, { client, head }: TunnelEnd): Promise<void> {
  const url = new URL(`https://${authority}`);
  const { address, port } = await addressOf(proxy, url, 'CONNECT');
  const server = keep(proxy, connect({ host: address, port, timeout: CONNECT_TIMEOUT_MS }));
  server.once('connect', () => {
    server.setTimeout(proxy.silenceMs ?? SILENCE_MS);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    server.write(head);
    server.pipe(client).pipe(server);
  });
  countBytes(server, proxy.maxBytes, () => server.destroy());
  server.once('timeout', () => server.destroy());
  server.once('close', () => client.destroy());
  client.once('close', () => server.destroy());
}

/** The address to connect to. Throws with the reason if the request is refused. */
async function addressOf(
  { guard, isAdmitted }: Proxy,
  url: URL,
  method: string,
): Promise<{ address: string; port: number }> {
  guard.checkUrl(url);
  const port = portOf(url);
  if (!isAdmitted(url, method)) throw new Error('refused: no page of the site needs this host');
  const [address] = await guard.addressesFor(url.hostname, port);
  if (address === undefined) throw new Error(`${url.hostname} has no address`);
  return { address, port };
}

/** Reports a refusal; returns the response body. */
function refuse({ onRefused, explainRefusals = false }: Proxy, { url = '' }: IncomingMessage, error: unknown): string {
  const reason = errorMessage(error);
  onRefused(url, reason);
  return explainRefusals ? `${reason}\n` : '';
}

function keep<Kept extends Duplex>({ sockets }: Proxy, socket: Kept): Kept {
  sockets.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => sockets.delete(socket));
  return socket;
}

/**
 * Forwards the status and headers. Node's client accepts some responses that its server rejects, and an exception in a
 * listener would end this process, so these become a 502. False if there is no body to forward.
 */
function writeHead(reply: ServerResponse, { statusCode = 0, headers }: IncomingMessage): boolean {
  try {
    if (statusCode >= 200 && statusCode <= 599) {
      reply.writeHead(statusCode, headers);
      return true;
    }
    reply.writeHead(502).end();
  } catch {
    reply.destroy();
  }
  return false;
}

function countBytes(source: NodeJS.ReadableStream, maxBytes: number, onTooMany: () => void): void {
  let total = 0;
  source.on('data', (chunk: Buffer) => {
    total += chunk.length;
    if (total > maxBytes) onTooMany();
  });
}
