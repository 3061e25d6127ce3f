import type { IncomingMessage } from 'node:http';
import type { BundleFile } from '../../contract/bundle.ts';
import type { ServedSite } from '../site.ts';

type Resolved =
  | { kind: 'file'; file: BundleFile }
  | { kind: 'redirect'; location: string; status: number }
  | { kind: 'not-found' }
  /** A path that no browser sends: broken escapes, control characters. */
  | { kind: 'malformed' };

type Lookup = Pick<ServedSite, 'file' | 'page' | 'redirect'>;

/**
 * Resolves a request target. Uses only the manifest, never the disk, so no spelling of a path can escape. In this
 * order: the origin's redirects, the page with this URL at the origin, the file of this name, the page without its
 * `.html`, the folder's index page.
 * @param target path and query from the request line, still encoded
 */
export function resolveRequest(target: string, site: Lookup): Resolved {
  const mark = target.indexOf('?');
  const encodedPath = mark < 0 ? target : target.slice(0, mark);
  const search = mark < 0 ? '' : target.slice(mark);
  const path = decode(encodedPath);
  if (path === undefined) return { kind: 'malformed' };

  const redirect = site.redirect(encodedPath + search) ?? site.redirect(encodedPath) ?? site.redirect(path);
  if (redirect !== undefined && redirect.to !== target) {
    return { kind: 'redirect', location: redirect.to, status: redirect.status };
  }

  const page = site.page(encodedPath + search) ?? site.page(encodedPath);
  if (page !== undefined) return { kind: 'file', file: page };

  const name = path.slice(1);
  const file = site.file(name === '' || name.endsWith('/') ? `${name}index.html` : name) ?? site.file(`${name}.html`);
  if (file !== undefined) return homeOf(file, search, site) ?? { kind: 'file', file };

  // A page has one URL: its relative links would break under another.
  const isFolder = name.endsWith('/');
  const other = isFolder ? `${withoutLastSlashes(name)}.html` : `${name}/index.html`;
  if (site.file(other) === undefined) return { kind: 'not-found' };
  const location = isFolder ? withoutLastSlashes(encodedPath) : `${encodedPath}/`;
  // A location that begins with two slashes would be another host's URL.
  return { kind: 'redirect', location: location.replace(/^\/+/, '/') + search, status: 308 };
}

/** A loop, because a regular expression for trailing slashes is slow on a path of slashes. */
function withoutLastSlashes(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}

/**
 * If a page is requested by its name in the bundle but had another URL at the origin (`/guides/start.html` for
 * `/guides/start`), redirect the browser there: routers in the page know only that URL, and relative links work from
 * both. Pages that ended in `.html` at the origin stay.
 */
function homeOf(file: BundleFile, search: string, site: Lookup): Resolved | undefined {
  if (file.url === undefined || !file.contentType.startsWith('text/html')) return undefined;
  if (site.page(file.url) !== file || site.redirect(file.url) !== undefined) return undefined;
  return { kind: 'redirect', location: file.url.includes('?') ? file.url : file.url + search, status: 308 };
}

function decode(encodedPath: string): string | undefined {
  if (!encodedPath.startsWith('/')) return undefined;
  try {
    const path = decodeURIComponent(encodedPath);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    return /[\u0000-\u001f\u007f]/.test(path) ? undefined : path;
  } catch {
    return undefined;
  }
}

/** Path and query. A request line may also name the scheme and host, as clients of proxies send it (RFC 9112, 3.2.2). */
export function requestTarget({ url = '/' }: IncomingMessage): string {
  if (url.startsWith('/')) return url;
  const [, target] = /^https?:\/\/[^/?]+(.*)$/i.exec(url) ?? [];
  if (target === undefined) return url;
  return target.startsWith('/') ? target : `/${target}`;
}
