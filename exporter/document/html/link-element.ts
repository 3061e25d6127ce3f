import type { ResourceKind } from '../types.ts';
import type { TagReader } from './tag-reader.ts';

const ASSETS = ['stylesheet', 'icon', 'preload', 'modulepreload', 'manifest', 'apple-touch-icon', 'mask-icon'];
const MORE_ASSETS = ['apple-touch-icon-precomposed', 'apple-touch-startup-image', 'fluid-icon', 'image_src', 'search'];
const IDENTITIES = ['canonical', 'shortlink', 'amphtml'];
const PAGES = [
  ...[
    'alternate',
    'next',
    'prev',
    'previous',
    'first',
    'last',
    'start',
    'up',
    'top',
    'home',
    'contents',
    'toc',
    'index',
  ],
  ...['chapter', 'section', 'subsection', 'appendix', 'glossary', 'copyright', 'help', 'author', 'license', 'bookmark'],
  ...['prerender', 'about', 'privacy-policy', 'terms-of-service', 'sitemap'],
];

const KIND_BY_REL: ReadonlyMap<string, ResourceKind> = new Map([
  ...PAGES.map((rel) => [rel, 'page'] as const),
  ...IDENTITIES.map((rel) => [rel, 'identity'] as const),
  ...[...ASSETS, ...MORE_ASSETS].map((rel) => [rel, 'asset'] as const),
]);

/** `<link>`: its rel decides how it is read, and may list several relations. */
export function readLink(reader: TagReader): void {
  const rel = reader.value('rel').toLowerCase();
  if (rel === '') return;
  const rels = rel.split(/\s+/);
  if (rels.includes('preconnect') || rels.includes('dns-prefetch')) {
    const { start, end } = reader.tag;
    reader.collector.mark(start, end, 'hint', reader.value('href'));
    return;
  }
  const kind = linkKind(rels, reader);
  const resource = reader.refer('href', kind);
  if (isOutsidePage(rels, kind, resource, reader)) {
    const { start, end } = reader.tag;
    reader.collector.mark(start, end, 'hint', reader.value('href'));
    return;
  }
  reader.markCharset(resource);
  markPreload(reader, rel, rels);
  const isFontPreload = rels.includes('preload') && reader.value('as') === 'font';
  if (!isFontPreload) reader.markGuards(resource);
}

/** Whether a browser would prefetch or prerender a page of another host. */
function isOutsidePage(
  rels: readonly string[],
  kind: ResourceKind,
  resource: number | undefined,
  { collector }: TagReader,
): boolean {
  if (kind !== 'page' || resource === undefined || collector.isOnSite(resource)) return false;
  return rels.includes('prefetch') || rels.includes('prerender');
}

function linkKind(rels: readonly string[], reader: TagReader): ResourceKind {
  const kinds = rels.map((each) => KIND_BY_REL.get(each));
  if (kinds.includes('asset')) return 'asset';
  if (kinds.includes('identity')) return 'identity';
  if (rels.includes('prefetch')) return isPageHint(reader) ? 'page' : 'asset';
  // Translations are for machines that read the public site, as the canonical URL is.
  if (rels.includes('alternate') && reader.has('hreflang')) return 'identity';
  return kinds.includes('page') ? 'page' : 'endpoint';
}

function isPageHint(reader: TagReader): boolean {
  const as = reader.value('as');
  return (
    as === 'document' || (as === '' && !/\.(?!html?$)[a-z0-9]{1,8}$/i.test(reader.value('href').split('?')[0] ?? ''))
  );
}

/** Marks preloads, because a page whose scripts don't start needs none of their files. */
function markPreload(reader: TagReader, rel: string, rels: readonly string[]): void {
  if (rels.includes('stylesheet')) return;
  if (!rels.includes('modulepreload') && !rels.includes('preload') && !rels.includes('prefetch')) return;
  reader.markValue('rel', reader.value('as') === 'font' ? 'font' : 'preload', rel);
}
