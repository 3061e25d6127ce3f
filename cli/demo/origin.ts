import type { IncomingMessage, ServerResponse } from 'node:http';
import send from 'send';

/** Serves a built site like its own host: clean URLs, index pages of folders, and 404.html. */
export function createOrigin(folder: string): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://origin');
    send(request, pathname, { root: folder, extensions: ['html'], index: 'index.html' })
      .on('error', () => {
        response.statusCode = 404;
        send(request, '/404.html', { root: folder })
          .on('error', () => response.end('not found'))
          .pipe(response);
      })
      .pipe(response);
  };
}
