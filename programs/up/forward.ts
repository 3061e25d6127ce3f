import { type RequestListener, request } from 'node:http';
import { pipeline } from 'node:stream';

/** Forwards every request, as it is, to a server of this machine. */
export function forwardTo(origin: string): RequestListener {
  const { hostname: host, port } = new URL(origin);
  return (incoming, reply) => {
    const { method, url: path, headers } = incoming;
    const outgoing = request({ host, port, method, path, headers, setHost: false }, (response) => {
      reply.writeHead(response.statusCode ?? 502, response.headers);
      pipeline(response, reply, () => undefined);
    });
    outgoing.on('error', () => {
      if (reply.headersSent) reply.destroy();
      else reply.writeHead(502, { Connection: 'close' }).end();
    });
    incoming.pipe(outgoing);
    reply.once('close', () => outgoing.destroy());
  };
}
