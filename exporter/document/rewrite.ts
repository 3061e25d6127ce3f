import { assignPath, folderPath, NOT_FOUND_PATH } from '../urls/assign-path.ts';
import type { Resource } from '../urls/identity.ts';
import { isOfSite, mounted } from '../urls/identity.ts';
import { gunzip, gzip } from './gzip.ts';
import { policySplices } from './policy-splices.ts';
import { decodeBytes } from './spanned-text.ts';
import { applyLayers, applySplices, type Splice } from './splice.ts';
import type { Mark, Reference, RewriteInput, Target } from './types.ts';

/** Writes a document for the bundle in one pass over its spans. Returns `bytes` itself if nothing changes. */
export function rewrite(input: RewriteInput): Uint8Array {
  const { bytes, extraction } = input;
  if (!extraction.gzip) return rewriteText(input);
  const text = gunzip(bytes);
  const written = rewriteText({ ...input, bytes: text });
  return written === text ? bytes : gzip(written);
}

function rewriteText(input: RewriteInput): Uint8Array {
  const { bytes, extraction } = input;
  const targets = extraction.resources.map((): Target | undefined => undefined);
  const targetOf = (index: number): Target => {
    const resource = extraction.resources[index];
    if (resource === undefined) return { missing: true };
    targets[index] ??= resolve(resource, input);
    return targets[index];
  };

  // Decoded once for all spans (latin1), because a site can have millions of links.
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const base = documentBase(input);
  const properties = new Map(
    extraction.marks.flatMap(([start, , kind, note]) => (kind === 'property' ? [[start, note] as const] : [])),
  );
  const references = extraction.references.flatMap((reference) => {
    const context = { input, base, property: properties.get(reference[0]) };
    const splice = referenceSplice(reference, source, targetOf(reference[2]), context);
    return splice === undefined ? [] : [splice];
  });
  const imports = extraction.marks.flatMap((mark) => importSplice(mark, source, targetOf, input, base) ?? []);
  const root = '../'.repeat((base?.folder ?? input.ownPath).split('/').length - 1);
  const links = { base: base && baseLink(input, base), root };
  const policies = policySplices(input, links, (index) => 'path' in targetOf(index));
  return applySplices(bytes, [...references, ...imports, ...policies]);
}

/** The import map entry for one file that modules import through a folder. Undefined if the bundle lacks the file. */
function importSplice(
  [start, , kind, note]: Mark,
  source: string,
  targetOf: (resource: number) => Target,
  input: RewriteInput,
  base: DocumentBase | undefined,
): Splice | undefined {
  if (kind !== 'import' || typeof note !== 'string') return undefined;
  const space = note.indexOf(' ');
  const resource = Number(note.slice(0, space));
  const target = targetOf(resource);
  if (!('path' in target)) return undefined;
  const context = { input, base, property: undefined };
  const link = referenceSplice([start, start, resource, 'mq'], source, target, context);
  return link && { ...link, text: `${asciiJson(note.slice(space + 1))}:"${link.text}",` };
}

/** A JSON string in ASCII that can't end a script element. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(/[<\x7f-\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The target of a resource, also if it isn't a file of the bundle. */
function resolve(resource: Resource, { site, target }: RewriteInput): Target {
  const { kind, url } = resource;
  if (kind === 'identity' || kind === 'card') return { absolute: mounted(url, site) };
  if (kind === 'probe') return inBundle(target(resource));
  if (kind === 'guess') return asFile(inBundle(target(resource)));
  if (kind === 'folder') return isOfSite(url, site) ? { path: folderPath(url, site) } : { absolute: url };
  const isLoaded = kind === 'asset' || kind === 'source-map';
  if (!isLoaded && !isOfSite(url, site)) return { absolute: url };
  const found = target(resource);
  if ('path' in found || ('absolute' in found && found.absolute !== url)) return found;
  // A missing page may exist later, but a missing asset must not be requested from the origin.
  if (!isLoaded || !isOfSite(url, site)) return { absolute: url };
  return { path: assignPath({ url, contentType: '', kind }, site) };
}

/** A guess is rewritten only if the bundle has the file. */
function inBundle(target: Target): Target {
  return 'path' in target ? target : { missing: true };
}

/** A value that leads to a page may be a key of a script, and hosts with clean URLs have the page under it. */
function asFile(target: Target): Target {
  return 'path' in target && !/\.x?html?$/i.test(target.path) ? target : { missing: true };
}

function referenceSplice(
  reference: Reference,
  source: string,
  target: Target,
  { input, base, property }: { input: RewriteInput; base: DocumentBase | undefined; property: Mark[3] },
): Splice | undefined {
  const [start, end, resource, layers, fragment = ''] = reference;
  const { extraction, ownPath } = input;
  const written = source.slice(start, end);
  const hasFragment = fragment !== '' || source[end] === '#';

  if ('path' in target) {
    const ownFragment = hasFragment ? fragment : (target.fragment ?? '');
    const isBased = base !== undefined && start > base.start;
    const from = isBased ? base.folder : ownPath;
    const isFromRoot =
      layers.startsWith('r') || (layers.startsWith('p') && extraction.framework !== null) || property === 'elsewhere';
    const relative = isFromRoot
      ? `/${encodePath(target.path)}`
      : property !== undefined
        ? linkThroughRoot(from, target.path)
        : relativeLink(from, target.path) || './';
    if (ownFragment === '' && (written === relative || leadsTo(written, from, target.path))) return undefined;
    const isOwnPart = target.path === ownPath && hasFragment && !isBased && ownPath !== NOT_FOUND_PATH;
    const link = isOwnPart ? '' : relative;
    return changed(start, end, written, applyLayers(link + ownFragment, layers));
  }
  const url = extraction.resources[resource]?.url;
  if ('missing' in target || (target.absolute === url && isWritten(written, url, input))) return undefined;
  const ownFragment = target.absolute.includes('#') ? '' : fragment;
  return changed(start, end, written, applyLayers(target.absolute + ownFragment, layers));
}

function changed(start: number, end: number, written: string, text: string): Splice | undefined {
  return written === text ? undefined : { start, end, text };
}

/** An absolute link keeps its spelling unless it names the origin or has no scheme. */
function isWritten(written: string, url: string, { site, extraction }: RewriteInput): boolean {
  // In UTF-8, the query would be another one.
  if (extraction.charset !== undefined && /[&\x80-\xff]/.test(written)) return false;
  const start = isOfSite(url, site) ? `https://${site.domain}/` : /^https?:\/\//i;
  return typeof start === 'string' ? written.startsWith(start) : start.test(written);
}

/** Characters that need no escaping in a link, in CSS or in a script, so they stay readable. */
const READABLE = /%(?:40|24|2C|3D)/g;

/** A bundle path as part of a URL, with each segment escaped. */
function encodePath(path: string): string {
  if (/^[\w.~/-]*$/.test(path)) return path;
  return path.split('/').map(encodeSegment).join('/');
}

function encodeSegment(segment: string): string {
  if (/^[\w.~-]*$/.test(segment)) return segment;
  return encodeURIComponent(segment)
    .replace(READABLE, decodeURIComponent)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The link from one file of the bundle to another, such as `../guides/start.html`. */
function relativeLink(from: string, to: string): string {
  // Compares characters, because a site can have millions of links and splitting both paths is several times slower.
  let shared = 0;
  for (let at = 0; at < from.length && from[at] === to[at]; at += 1) if (from[at] === '/') shared = at + 1;
  let up = '';
  for (let at = from.indexOf('/', shared); at !== -1; at = from.indexOf('/', at + 1)) up += '../';
  return up + encodePath(to.slice(shared));
}

/**
 * The same through the root, such as `../../guides/start.html`. At the root of a host it is right for every file that
 * is in no more folders than `from`, because a browser ignores `..` there.
 */
function linkThroughRoot(from: string, to: string): string {
  return '../'.repeat(from.split('/').length - 1) + encodePath(to);
}

/** Relative, without a query, and with no character that needs escaping other than `&amp;`. */
const PLAIN_RELATIVE = /^(?!\/|[a-z][a-z0-9+.-]*:)(?:[\w\-.~/%@+,;:=$!*'()\x80-\xff]|&amp;)+$/i;

/** Whether the link `written` already leads from one file to the other, in any spelling. */
function leadsTo(written: string, from: string, to: string): boolean {
  if (!PLAIN_RELATIVE.test(written)) return false;
  const link = decodeBytes(written).replaceAll('&amp;', '&');
  const { pathname } = new URL(link, `https://bundle.invalid/${encodePath(from)}`);
  try {
    return decodeURIComponent(pathname) === `/${to}`;
  } catch {
    return false;
  }
}

/** After byte `start`, the document's relative URLs are resolved against `folder` of the bundle. */
type DocumentBase = { start: number; folder: string };

/**
 * The `<base>` that a document keeps. Scripts such as client-side routers may resolve URLs against it, so a base
 * within the site stays and becomes relative. A base on another host is removed. The not-found page gets its own base.
 */
function documentBase({ extraction, site, ownPath }: RewriteInput): DocumentBase | undefined {
  if (ownPath === NOT_FOUND_PATH) return undefined;
  const mark = extraction.marks.find(([, , kind, note]) => kind === 'base' && typeof note === 'string');
  if (mark === undefined || typeof mark[3] !== 'string' || !isOfSite(mark[3], site)) return undefined;
  return { start: mark[0], folder: folderPath(mark[3], site) };
}

/** The base's `href`: a relative URL in ASCII that needs no escaping. */
function baseLink({ ownPath }: RewriteInput, { folder }: DocumentBase): string {
  return relativeLink(ownPath, folder) || './';
}
