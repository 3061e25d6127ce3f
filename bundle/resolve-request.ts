import type { BundleFile } from '../contract/bundle.ts';
import type { SiteLookup } from './site-lookup.ts';
import { canonicalTarget, decodePath } from './url.ts';

export type Resolved =
  | { kind: 'file'; file: BundleFile }
  | { kind: 'redirect'; location: string; status: number }
  /** `page`: the file to send instead, by a rule of the bundle. */
  | { kind: 'not-found'; page?: { file: BundleFile; status: 200 | 404 } }
  /** A path that no browser sends: broken escapes, control characters. */
  | { kind: 'malformed' };

/**
 * Resolves a request target. Uses only the manifest, never the disk, so no spelling of a path can escape. In this
 * order: the origin's redirects, the file with this URL at the origin, the bundle's rules with `!`, the file of this name,
 * the page without its `.html`, the folder's index page, the bundle's other rules. All spellings of a URL are the same (`url.ts`).
 * @param target path and query from the request line, still encoded
 */
export function resolveRequest(target: string, site: SiteLookup): Resolved {
  if (!target.startsWith('/')) return { kind: 'malformed' };
  const url = canonicalTarget(target);
  const mark = url.indexOf('?');
  const encodedPath = mark < 0 ? url : url.slice(0, mark);
  const search = mark < 0 ? '' : url.slice(mark);

  const redirect = site.redirect(url) ?? site.redirect(encodedPath);
  if (redirect !== undefined && redirect.to !== target && redirect.to !== url) {
    return { kind: 'redirect', location: redirect.to, status: redirect.status };
  }

  const original = site.original(url) ?? site.original(encodedPath);
  if (original !== undefined) return { kind: 'file', file: original };

  const path = decodePath(encodedPath);
  if (CONTROL_CHARACTER.test(path)) return { kind: 'malformed' };
  const requested = { encodedPath, search };
  const first = resolveRule(path, requested, site, true);
  if (first?.kind === 'redirect') return first;
  if (first?.page?.status === 200) return { kind: 'file', file: first.page.file };
  const last = (): Resolved => resolveRule(path, requested, site, false) ?? { kind: 'not-found' };
  return first ?? resolveName(path.slice(1), requested, site) ?? last();
}

/** What a rule of the bundle's `_redirects` makes of a path. */
function resolveRule(
  path: string,
  { search }: Requested,
  site: SiteLookup,
  force: boolean,
): Extract<Resolved, { kind: 'redirect' | 'not-found' }> | undefined {
  const rule = site.rule(path, force);
  if (rule === undefined) return undefined;
  const { to, status } = rule;
  if (status >= 300 && status < 400) {
    return { kind: 'redirect', location: to.includes('?') ? to : withSearch(to, search), status };
  }
  const found = resolveName(decodePath(to.split(/[?#]/)[0] ?? to).slice(1), { encodedPath: to, search: '' }, site);
  return found?.kind === 'file'
    ? { kind: 'not-found', page: { file: found.file, status: status === 200 ? 200 : 404 } }
    : undefined;
}

/** Before a fragment. */
function withSearch(to: string, search: string): string {
  const mark = to.indexOf('#');
  return mark < 0 ? to + search : to.slice(0, mark) + search + to.slice(mark);
}

/** What no browser sends in a path. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;

type Requested = { encodedPath: string; search: string };

function resolveName(name: string, { encodedPath, search }: Requested, site: SiteLookup): Resolved | undefined {
  const file = site.file(name === '' || name.endsWith('/') ? `${name}index.html` : name) ?? site.file(`${name}.html`);
  if (file !== undefined) return homeOf(file, search, site) ?? { kind: 'file', file };

  // A page has one URL: its relative links would break under another.
  const isFolder = name.endsWith('/');
  const other = isFolder ? `${withoutLastSlashes(name)}.html` : `${name}/index.html`;
  const location = isFolder ? withoutLastSlashes(encodedPath) : `${encodedPath}/`;
  // A location that begins with two slashes would be another host's URL.
  if (site.file(other) !== undefined) return movedTo(location.replace(/^\/+/, '/') + search);
  // Paths in a bundle have no empty names.
  return encodedPath.includes('//') ? movedTo(encodedPath.replace(/\/{2,}/g, '/') + search) : undefined;
}

function movedTo(location: string): Resolved {
  return { kind: 'redirect', location, status: 308 };
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
function homeOf(file: BundleFile, search: string, site: SiteLookup): Resolved | undefined {
  if (file.url === undefined || !file.contentType.startsWith('text/html')) return undefined;
  const url = canonicalTarget(file.url);
  if (site.original(url) !== file || site.redirect(url) !== undefined) return undefined;
  return movedTo(url.includes('?') ? url : url + search);
}
