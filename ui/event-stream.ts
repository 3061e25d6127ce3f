import type { Request, Response } from 'express';

/** Proxies close connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000;

export type EventStream = {
  /** Sends an unnamed event, unless the client hasn't read the ones before: it gets a later state. */
  send: (data: string) => void;
};

/**
 * Starts a response of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). It ends with
 * the connection, or with `stopped`.
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
  const heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS).unref();
  const stop = (): void => void response.end();
  stopped?.addEventListener('abort', stop, { once: true });
  if (stopped?.aborted) stop();
  // The server may end the stream before its client does.
  response.once('close', () => {
    clearInterval(heartbeat);
    stopped?.removeEventListener('abort', stop);
    onEnd();
  });
  return {
    send(data) {
      if (response.writableEnded || response.writableNeedDrain || request.socket.destroyed) return;
      const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
      response.write(`${lines.join('')}\n`);
    },
  };
}
