import type { Request, Response } from 'express';

/** Proxies close connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000;

export type EventStream = {
  /** Sends an unnamed event. Returns false if it didn't, because the client hasn't read the ones before or has left. */
  send: (data: string) => boolean;
};

/**
 * Starts a response of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). It ends with
 * the connection, or with `stopped`. For HEAD, it ends after the headers.
 */
export function startEventStream(
  request: Request,
  response: Response,
  { stopped, onEnd }: { stopped: AbortSignal | undefined; onEnd: () => void },
): EventStream {
  response.set({
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    // nginx would collect the events in a buffer.
    'X-Accel-Buffering': 'no',
  });
  response.flushHeaders();
  response.write(': connected\n\n');
  // A client that reads nothing keeps an ended response open, and a write to it would end the process.
  const isReady = (): boolean => !response.writableEnded && !response.writableNeedDrain && !request.socket.destroyed;
  const heartbeat = setInterval(() => {
    if (isReady()) response.write(': still here\n\n');
  }, HEARTBEAT_MS).unref();
  const stop = (): void => void response.end();
  stopped?.addEventListener('abort', stop, { once: true });
  if (stopped?.aborted || request.method === 'HEAD') stop();
  // The server may end the stream before its client does.
  response.once('close', () => {
    clearInterval(heartbeat);
    stopped?.removeEventListener('abort', stop);
    onEnd();
  });
  return {
    send(data) {
      if (!isReady()) return false;
      const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
      response.write(`${lines.join('')}\n`);
      return true;
    },
  };
}
