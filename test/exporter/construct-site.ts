import { readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type HttpSite, type SiteHandler, startHttpSite } from '../helpers/http-site.ts';

const ROOT = join(process.cwd(), 'test/fixtures');
export const SITE_FOLDER = join(ROOT, 'every-construct');
export const OUTSIDE_FOLDER = join(ROOT, 'every-construct-outside');
/** The placeholder for the other host in the fixture's files. */
const OUTSIDE = 'https://outside.example.org';

/** Files that are served from outside the fixture: real fonts from a dependency. */
const FONTS = join(process.cwd(), 'node_modules/vitepress/dist/client/theme-default/fonts');
const ELSEWHERE: Readonly<Record<string, string>> = {
  'styles/face.woff2': join(FONTS, 'inter-roman-latin.woff2'),
  'fonts/outside.woff2': join(FONTS, 'inter-italic-latin.woff2'),
};

const TYPES: Readonly<Record<string, string>> = {
  ...{ '.html': 'text/html; charset=utf-8', '.css': 'text/css', '.js': 'text/javascript', '.mjs': 'text/javascript' },
  ...{ '.json': 'application/json', '.svg': 'image/svg+xml', '.png': 'image/png', '.woff2': 'font/woff2' },
  ...{ '.webmanifest': 'application/manifest+json', '.xml': 'application/xml', '.txt': 'text/plain' },
  ...{ '.mp4': 'video/mp4', '.mp3': 'audio/mpeg', '.vtt': 'text/vtt', '.pdf': 'application/pdf' },
};
/** Content types of files whose charset differs. */
const CHARSETS: Readonly<Record<string, string>> = {
  'charset/by-header.html': 'text/html; charset=windows-1252',
  'charset/by-header.css': 'text/css; charset=windows-1252',
  'charset/by-header.js': 'text/javascript; charset=windows-1252',
  'charset/by-meta.html': 'text/html',
  'charset/by-mark.html': 'text/html',
  'charset/by-escape.html': 'text/html',
  'charset/inherited.html': 'text/html',
  'charset/inherited-frame.html': 'text/html',
  'charset/by-xml.xhtml': 'application/xhtml+xml',
};

type ConstructFile = { name: string; bytes: Buffer; contentType: string };

/** The fixture's file for a URL path, with clean URLs. */
function constructFile(folder: string, pathname: string): ConstructFile | undefined {
  const path = decodeURIComponent(pathname).slice(1);
  const candidates = path === '' || path.endsWith('/') ? [`${path}index.html`] : [path, `${path}.html`, `${path}.css`];
  for (const name of candidates) {
    const file = ELSEWHERE[name] ?? join(folder, name);
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) continue;
    const contentType = CHARSETS[name] ?? TYPES[extname(name)] ?? 'application/octet-stream';
    return { name, bytes: readFileSync(file), contentType };
  }
  return undefined;
}

function serve(folder: string, outside: () => string): SiteHandler {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host.invalid');
    if (pathname === '/old') {
      response.writeHead(301, { location: '/guides/start' }).end();
      return;
    }
    const found = constructFile(folder, pathname);
    const file = found ?? constructFile(folder, '/404.html');
    response.writeHead(found === undefined ? 404 : 200, {
      'content-type': file?.contentType ?? 'text/plain',
      'access-control-allow-origin': '*',
    });
    // latin1 keeps every byte: some of the files are not in UTF-8.
    response.end(Buffer.from(file?.bytes.toString('latin1').replaceAll(OUTSIDE, outside()) ?? '', 'latin1'));
  };
}

export type ConstructSite = { site: HttpSite; outside: HttpSite; close(): Promise<void> };

/** Starts the fixture's two origins. Their files refer to each other's real address. */
export async function startConstructSite(): Promise<ConstructSite> {
  const outside = await startHttpSite(serve(OUTSIDE_FOLDER, () => outside.origin));
  const site = await startHttpSite(serve(SITE_FOLDER, () => outside.origin));
  return { site, outside, close: async () => void (await Promise.all([site.close(), outside.close()])) };
}
