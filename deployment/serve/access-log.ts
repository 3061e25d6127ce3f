import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';

export type AccessLog = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Logs one line per response at its end, without the query: it may hold what the visitor searched for or a token.
 * `aborted`: the client disconnected first.
 */
export function createAccessLog(logger: Logger): AccessLog {
  return (req, res) => {
    const startedMs = performance.now();
    const { socket } = req;
    const { remoteAddress: remote, bytesWritten: sentBefore } = socket;
    res.once('close', () => {
      const { host, referer, 'user-agent': userAgent } = req.headers;
      const line = {
        method: req.method,
        path: (req.url ?? '').split('?')[0],
        status: res.statusCode,
        bytes: socket.bytesWritten - sentBefore,
        ms: Math.round((performance.now() - startedMs) * 10) / 10,
        ...(res.writableFinished ? {} : { aborted: true }),
        remote,
        host,
        referer: referer?.split('?')[0],
        userAgent,
      };
      logger.info(line, 'response');
    });
  };
}
