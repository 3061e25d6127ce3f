import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { cp, symlink } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { SiteHandler } from '../helpers/http-site.ts';

/** Builds test/fixtures/client-app, a client-rendered app. Returns the folder of the built files. */
export async function buildClientApp(folder: string): Promise<string> {
  const root = process.cwd();
  const app = join(folder, 'app');
  await cp(join(root, 'test/fixtures/client-app'), app, { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const env = { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build', app], { env });
  return join(app, 'dist');
}

const TYPES: Record<string, string> = {
  ...{ '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml' },
  ...{ '.json': 'application/json', '.txt': 'text/plain' },
};

/** A host with the usual fallback of single-page apps: paths without a file get `index.html`. */
export function appHost(folder: string): SiteHandler {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host.invalid');
    const path = join(folder, pathname);
    const isThere = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    if (!isThere && extname(pathname) !== '' && extname(pathname) !== '.html') {
      response.writeHead(404).end();
      return;
    }
    const file = isThere ? path : join(folder, 'index.html');
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
    response.end(readFileSync(file));
  };
}

/** A plain static host of a bundle's files below a prefix, with `index.html` and optional `.html`. */
export function bundleHost(files: ReadonlyMap<string, string>, prefix = '/'): SiteHandler {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host.invalid');
    const name = pathname.startsWith(prefix) ? decodeURIComponent(pathname.slice(prefix.length)) : '404.html';
    const path = [name, `${name}.html`, join(name, 'index.html')].find((each) => files.has(each));
    response.statusCode = path === undefined ? 404 : 200;
    response.setHeader('content-type', TYPES[extname(path ?? '404.html')] ?? 'application/octet-stream');
    response.end(files.get(path ?? '404.html'));
  };
}
