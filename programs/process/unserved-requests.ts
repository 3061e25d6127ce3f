import { randomUUID } from 'node:crypto';
import { type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorBody } from '../../web/http-error.ts';

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
export function rejectUnserved(server: Server, lingerMs: number): void {
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

/** HTTP/1.1 requires a Host header; Node's own response has no body. */
export function requireHost(app: RequestListener): RequestListener {
  return (request, response) => {
    if (request.httpVersion !== '1.1' || request.headers.host !== undefined) {
      app(request, response);
      return;
    }
    answer(response, 400, 'expected a Host header');
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
