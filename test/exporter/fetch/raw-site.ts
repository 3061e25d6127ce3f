import { createServer, type Socket } from 'node:net';

/** Responds to one request with any bytes, silence or a reset. */
export type RawAnswer = (socket: Socket, path: string) => void;

export type RawSite = {
  origin: string;
  host: string;
  /** Every requested path, in order. */
  requests: string[];
  /** Bytes written to the sockets on which a path was requested. */
  bytesSent(path: string): number;
  setAnswer(answer: RawAnswer): void;
  close(): Promise<void>;
};

/** A server that writes raw bytes to a socket, so that it can violate HTTP. */
export async function startRawSite(): Promise<RawSite> {
  let answer: RawAnswer = (socket) => socket.destroy();
  const requests: string[] = [];
  const socketsOf = new Map<string, Set<Socket>>();
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    let head = '';
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      for (let end = head.indexOf('\r\n\r\n'); end !== -1; end = head.indexOf('\r\n\r\n')) {
        const path = /^GET (\S+) /.exec(head)?.[1] ?? '';
        head = head.slice(end + 4);
        requests.push(path);
        socketsOf.set(path, (socketsOf.get(path) ?? new Set<Socket>()).add(socket));
        answer(socket, path);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const host = `127.0.0.1:${address.port}`;
  return {
    origin: `http://${host}`,
    host,
    requests,
    bytesSent: (path) => [...(socketsOf.get(path) ?? [])].reduce((sum, socket) => sum + socket.bytesWritten, 0),
    setAnswer(next) {
      answer = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

/** A whole response as bytes. `length`: a wrong value for `Content-Length`. */
export function rawAnswer(
  body: string | Buffer,
  { type = 'text/html', status = '200 OK', length, headers = [] }: RawHead = {},
): Buffer {
  const bytes = Buffer.from(body);
  const lines = [
    `HTTP/1.1 ${status}`,
    `Content-Type: ${type}`,
    `Content-Length: ${length ?? bytes.length}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}

export type RawHead = { type?: string; status?: string; length?: number | string; headers?: readonly string[] };
