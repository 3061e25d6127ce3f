import { createReadStream, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { SiteHandler } from '../../helpers/http-site.ts';

const TYPES: Record<string, string> = {
  ...{ '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml' },
  ...{ '.json': 'application/json', '.png': 'image/png', '.woff2': 'font/woff2', '.xml': 'application/xml' },
  ...{ '.webmanifest': 'application/manifest+json', '.xhtml': 'application/xhtml+xml' },
  ...{ '.mjs': 'text/javascript', '.txt': 'text/plain', '.mp4': 'video/mp4', '.mp3': 'audio/mpeg' },
};

export type StaticHostOptions = {
  /** The path below which the folder is served. Starts and ends with a slash. */
  prefix?: string;
  /** Whether `/a` serves `a.html`. */
  cleanUrls?: boolean;
  /** Whether a folder's URL without a trailing slash redirects to the one with it. */
  redirectFolders?: boolean;
};

/** A plain static host with exact names, `index.html` and `404.html`. Options enable more. */
export function staticHost(folder: string, options: StaticHostOptions = {}): SiteHandler {
  const { prefix = '/', cleanUrls = false, redirectFolders = false } = options;
  const statOf = (path: string) => statSync(path, { throwIfNoEntry: false });
  const isFile = (path: string): boolean => statOf(path)?.isFile() === true;
  return (request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://host.invalid');
    const name = pathname.startsWith(prefix) ? decodeURIComponent(pathname.slice(prefix.length)) : undefined;
    const isFolder = name !== undefined && statOf(join(folder, name))?.isDirectory() === true;
    if (redirectFolders && isFolder && !pathname.endsWith('/')) {
      response.writeHead(301, { location: `${pathname}/${search}` }).end();
      return;
    }
    const candidates =
      name === undefined ? [] : [name, ...(cleanUrls ? [`${name}.html`] : []), join(name, 'index.html')];
    const found = candidates.map((each) => join(folder, each)).find(isFile);
    const path = found ?? [join(folder, '404.html')].find(isFile);
    response.statusCode = found === undefined ? 404 : 200;
    if (path === undefined) {
      response.end('not found');
      return;
    }
    response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream');
    createReadStream(path).pipe(response);
  };
}
