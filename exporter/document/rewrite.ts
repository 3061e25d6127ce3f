import { assignPath, folderPath, NOT_FOUND_PATH } from './assign-path.ts';
import { type DocumentBase, documentBase } from './document-base.ts';
import { applyLayers } from './escape.ts';
import { policySplices } from './policy-splices.ts';
import { encodePath, leadsTo, relativeLink } from './relative-link.ts';
import { applySplices, type Splice } from './splice.ts';
import type { Mark, Reference, Resource, RewriteInput, Target } from './types.ts';
import { isOfSite } from './url-identity.ts';

/** Writes a document as it stands in the bundle, in one pass over the spans. Returns `bytes` itself if nothing changes. */
export function rewrite(input: RewriteInput): Uint8Array {
  const { bytes, extraction } = input;
  const targets = extraction.resources.map((): Target | undefined => undefined);
  const targetOf = (index: number): Target => {
    const resource = extraction.resources[index];
    if (resource === undefined) return { missing: true };
    targets[index] ??= resolve(resource, input);
    return targets[index];
  };

  // One character a byte, once for all: a site's pages hold millions of links.
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const base = documentBase(input);
  const references = extraction.references.flatMap((reference) => {
    const splice = referenceSplice(reference, source, targetOf(reference[2]), input, base);
    return splice === undefined ? [] : [splice];
  });
  const imports = extraction.marks.flatMap((mark) => importSplice(mark, source, targetOf, input, base) ?? []);
  const policies = policySplices(input, (index) => 'path' in targetOf(index));
  return applySplices(bytes, [...references, ...imports, ...policies]);
}

/** The entry that an import map gets for one file that modules import through a folder. Undefined if the bundle lacks it. */
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
  const link = referenceSplice([start, start, resource, 'mq'], source, target, input, base);
  return link && { ...link, text: `${asciiJson(note.slice(space + 1))}:"${link.text}",` };
}

/** A JSON string of ASCII that no markup ends. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(/[<\x7f-\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Where a resource leads, with every case that isn't a file of the bundle settled. */
function resolve(resource: Resource, { site, target }: RewriteInput): Target {
  const { kind, url } = resource;
  if (kind === 'identity' || kind === 'card') return { absolute: url };
  if (kind === 'probe') return inBundle(target(resource));
  if (kind === 'folder') return isOfSite(url, site) ? { path: folderPath(url, site) } : { absolute: url };
  const isLoaded = kind === 'asset' || kind === 'source-map';
  if (!isLoaded && !isOfSite(url, site)) return { absolute: url };
  const found = target(resource);
  if ('path' in found || ('absolute' in found && found.absolute !== url)) return found;
  // A page may be there one day; an asset that the bundle hasn't must still not be asked for at the origin.
  if (!isLoaded || !isOfSite(url, site)) return { absolute: url };
  return { path: assignPath({ url, contentType: '', kind }, site) };
}

/** A guess is written only where it was right: as a file of the bundle. */
function inBundle(target: Target): Target {
  return 'path' in target ? target : { missing: true };
}

function referenceSplice(
  reference: Reference,
  source: string,
  target: Target,
  input: RewriteInput,
  base: DocumentBase | undefined,
): Splice | undefined {
  const [start, end, resource, layers, fragment = ''] = reference;
  const { extraction, ownPath } = input;
  const written = source.slice(start, end);
  const hasFragment = fragment !== '' || source[end] === '#';

  if ('path' in target) {
    const ownFragment = hasFragment ? fragment : (target.fragment ?? '');
    const isBased = base !== undefined && start > base.start;
    const from = isBased ? base.folder : ownPath;
    const relative = layers.startsWith('r') ? `/${encodePath(target.path)}` : relativeLink(from, target.path) || './';
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

/** An absolute link may stay as its author spelled it, unless it names the origin, or leaves the scheme to chance. */
function isWritten(written: string, url: string, { site }: RewriteInput): boolean {
  const start = isOfSite(url, site) ? `https://${site.domain}/` : /^https?:\/\//i;
  return typeof start === 'string' ? written.startsWith(start) : start.test(written);
}
