import { execFile } from 'node:child_process';
import { createReadStream, statSync } from 'node:fs';
import { cp, symlink } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { SiteHandler } from '../../../helpers/http-site.ts';

/** Builds test/fixtures/vitepress-site below a temporary folder; returns the folder of the built files. */
export async function buildVitepressSite(folder: string, { cleanUrls }: { cleanUrls: boolean }): Promise<string> {
  const root = process.cwd();
  const site = join(folder, 'site');
  await cp(join(root, 'test/fixtures/vitepress-site'), site, { recursive: true });
  // The configuration and the theme are imported by package name from where the sources lie.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const program = join(root, 'node_modules/vitepress/bin/vitepress.js');
  const env = { ...process.env, GALLEY_TEST_CLEAN_URLS: String(cleanUrls), NODE_OPTIONS: '' };
  await promisify(execFile)(process.execPath, [program, 'build', site], { env, cwd: folder });
  return join(site, '.vitepress/dist');
}

const TYPES: Record<string, string> = {
  ...{ '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml' },
  ...{ '.json': 'application/json', '.png': 'image/png', '.woff2': 'font/woff2', '.xml': 'application/xml' },
  ...{ '.webmanifest': 'application/manifest+json', '.xhtml': 'application/xhtml+xml' },
  ...{ '.mjs': 'text/javascript', '.txt': 'text/plain', '.mp4': 'video/mp4', '.mp3': 'audio/mpeg' },
};

/** A plain static host: exact names, `index.html`, and `404.html`; `.html` only where clean addresses are on. */
export function staticHost(folder: string, options: { prefix?: string; cleanUrls?: boolean } = {}): SiteHandler {
  const { prefix = '/', cleanUrls = false } = options;
  const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host.invalid');
    const name = pathname.startsWith(prefix) ? decodeURIComponent(pathname.slice(prefix.length)) : undefined;
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
