import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type SiteHandler = (request: IncomingMessage, response: ServerResponse) => unknown;

export type HttpSite = {
  origin: string;
  host: string;
  port: number;
  /** Every requested path, in order. */
  requests: string[];
  setHandler(handler: SiteHandler): void;
  close(): Promise<void>;
};

/** A real HTTP server on a free port of 127.0.0.1 with a handler that a test can replace. */
export async function startHttpSite(handler: SiteHandler): Promise<HttpSite> {
  let current = handler;
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    Promise.resolve(current(request, response)).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  // Only the client closes idle connections: otherwise the server could close one just as a request arrives.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    host: `127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    setHandler: (next) => {
      current = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

export type StaticFile = {
  body: string | Buffer;
  contentType?: string;
  status?: number;
  headers?: Record<string, string>;
};

/** Serves files by exact path and query (percent-encoded as sent), and 404 for all others. */
export function serveFiles(files: Readonly<Record<string, StaticFile | string>>): SiteHandler {
  return (request, response) => {
    const file = files[request.url ?? ''];
    if (file === undefined) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<title>not found</title>');
      return;
    }
    const { body, contentType, status, headers } = typeof file === 'string' ? { body: file } : file;
    response.writeHead(status ?? 200, { 'content-type': contentType ?? 'text/html; charset=utf-8', ...headers });
    response.end(body);
  };
}
