import { NOT_FOUND_PATH, SHORTCUT_PATH } from '../urls/assign-path.ts';
import { frameworkByName } from './frameworks/detect.ts';
import { applyLayers, type Splice } from './splice.ts';
import { HELD_REL, HELD_TYPE, startGuard } from './start-guard.ts';
import type { Mark, RewriteInput } from './types.ts';

/**
 * The changes that policies make beside URLs. `isLocal` says whether a resource is in the bundle; `base` is the `href` of
 * the `<base>` that the document keeps, if any, and `root` leads from the document to the bundle's root.
 */
export function policySplices(
  input: RewriteInput,
  { base, root }: { base: string | undefined; root: string },
  isLocal: (resource: number) => boolean,
): Splice[] {
  const context = { ...contextOf(input, base, isLocal), root };
  return input.extraction.marks.flatMap((mark) => {
    const text = replacement(mark, context);
    return text === undefined ? [] : [{ start: mark[0], end: mark[1], text }];
  });
}

type Context = {
  input: RewriteInput;
  isLocal: (resource: number) => boolean;
  /** Scripts wait for the start guard. */
  held: boolean;
  holdsClassic: boolean;
  stripped: boolean;
  isNotFound: boolean;
  /** The `<base>` that the document keeps in the bundle, if any. */
  base: string | undefined;
  root: string;
};

function contextOf(
  input: RewriteInput,
  base: string | undefined,
  isLocal: (resource: number) => boolean,
): Omit<Context, 'root'> {
  const { extraction, ownPath, policy } = input;
  const framework = frameworkByName(extraction.framework);
  const held = policy.scripts === 'auto' && framework !== undefined;
  return {
    input,
    isLocal,
    held,
    holdsClassic: held && framework.startsByClassicScripts,
    stripped: policy.scripts === 'strip',
    isNotFound: ownPath === NOT_FOUND_PATH,
    base,
  };
}

/** The text that replaces a mark; undefined to leave it unchanged. */
function replacement([start, , kind, note]: Mark, context: Context): string | undefined {
  switch (kind) {
    case 'integrity':
    case 'crossorigin':
      return typeof note === 'number' && context.isLocal(note) ? '' : undefined;
    case 'base':
      return context.base === undefined || typeof note !== 'string' ? '' : ` href="${context.base}"`;
    case 'ping':
      return '';
    case 'label':
      return typeof note !== 'number' || context.isLocal(note) ? 'utf-8' : undefined;
    case 'handler':
    case 'script':
      return context.stripped ? '' : undefined;
    case 'csp':
      return applyLayers(bundledPolicy(String(note)), quoteBefore(context.input.bytes, start));
    case 'hint':
      return isKeptHost(String(note), context.input) ? undefined : '';
    case 'module':
      return context.held ? ` type="${HELD_TYPE}" data-galley-type="module"` : undefined;
    case 'classic':
      return context.holdsClassic && typeof note === 'number' && context.isLocal(note)
        ? ` type="${HELD_TYPE}"`
        : undefined;
    case 'type':
      return context.held ? '' : undefined;
    case 'preload':
      return context.held || context.stripped ? HELD_REL + note : undefined;
    case 'font':
      // A font preload needs `crossorigin`, which fails for `file:`. Without it, the font would load twice.
      return HELD_REL + note;
    case 'charset':
      return '<meta charset="utf-8">';
    case 'head':
      return context.isNotFound ? NOT_FOUND_BASE : propertyFix(context) || undefined;
    case 'origin':
      return String(note);
    case 'patch':
      return context.stripped ? undefined : String(note);
    case 'import-map':
    case 'import':
    case 'property':
      // Written by `rewrite`, because they refer to files.
      return undefined;
    case 'source-map':
      return context.input.policy.sourceMaps === 'keep' ? undefined : '';
    case 'body-end':
      return (context.held ? guardOf(context) : '') + searchOf(context) || undefined;
  }
}

/** Valid in XHTML too. Only `scripts: strip` keeps scripts out. */
function searchOf({ input: { policy }, root, stripped }: Context): string {
  if (policy.isSearched !== true || stripped) return '';
  return `<script src="${root}${SHORTCUT_PATH}" defer="defer"></script>`;
}

function guardOf({ isNotFound, input }: Context): string {
  return startGuard(isNotFound ? null : new URL(input.url).pathname);
}

/**
 * In custom properties, a page has URLs from the root of the host: browsers resolve them where the property is used, in
 * the page or in a stylesheet of any folder. If the bundle isn't at the root, this script makes them absolute. The text
 * has no `<` and no `&`, so it is valid in XHTML too.
 */
function propertyFix({ input: { extraction, ownPath } }: Context): string {
  const isNeeded = extraction.marks.some(([, , kind, note]) => kind === 'property' && note === 'elsewhere');
  if (!isNeeded) return '';
  const root = '../'.repeat(ownPath.split('/').length - 1) || './';
  return `<script>(function(r,s){${FIX_PROPERTIES}})(new URL("${root}",location.href).href,document.currentScript)</script>`;
}

/**
 * Observers run before a page that is still loading is painted, so nothing is requested from the wrong URL. A style
 * element is complete once anything follows it.
 */
const FIX_PROPERTIES = [
  's.parentNode.removeChild(s);if(/^https?:\\/\\/[^/]+\\/$/.test(r))return;',
  'function f(t){return t.replace(/(url\\(\\s*["\']?)\\/(?!\\/)/g,function(m,s){return s+r})}',
  'function each(e){var c=e.localName===\'style\',n=e;if(c)if(document.readyState==="loading"){',
  'while(n)if(n.nextSibling)break;else n=n.parentNode;if(!n)return}',
  "var t=c?e.textContent:e.getAttribute('style');n=f(t);",
  "if(n!==t)if(c)e.textContent=n;else e.setAttribute('style',n)}",
  'function all(){Array.prototype.forEach.call(document.querySelectorAll(\'style,[style*="url("]\'),each)}',
  'var o=new MutationObserver(all);o.observe(document,{childList:true,subtree:true});',
  "document.addEventListener('DOMContentLoaded',function(){o.disconnect();all()})",
].join('');

/** Whether the bundle still loads files from another host, so that a connection hint is useful. */
function isKeptHost(source: string, { url, policy }: RewriteInput): boolean {
  if (policy.external === 'keep') return true;
  return URL.canParse(source, url) && policy.keepHosts?.includes(new URL(source, url).hostname) === true;
}

function quoteBefore(bytes: Uint8Array, start: number): string {
  const before = String.fromCharCode(bytes[start - 1] ?? 0);
  return before === '"' || before === "'" ? before : '=';
}

/** Directives that would break a bundle on some hosts and protect nothing in static files. */
const DROPPED: ReadonlySet<string> = new Set([
  'upgrade-insecure-requests',
  'block-all-mixed-content',
  'require-trusted-types-for',
  'trusted-types',
  'base-uri',
  'report-uri',
  'report-to',
  // Browsers ignore these in a page and only log a warning.
  'frame-ancestors',
  'sandbox',
]);
const INLINE: ReadonlySet<string> = new Set([
  'default-src',
  'script-src',
  'script-src-elem',
  'style-src',
  'style-src-elem',
]);

/**
 * Adapts a page's policy to the bundle. Files of other hosts are now the site's own (`'self'`, or `file:` if opened
 * from disk). Inline code is allowed, because hashes no longer match and nonces don't work in a file.
 */
function bundledPolicy(policy: string): string {
  return policy
    .split(';')
    .map((directive) => directive.trim().split(/\s+/))
    .filter(([name = '']) => name !== '' && !DROPPED.has(name.toLowerCase()))
    .map(([name = '', ...sources]) => [name, ...bundledSources(name.toLowerCase(), sources)].join(' '))
    .join('; ');
}

function bundledSources(name: string, sources: readonly string[]): readonly string[] {
  if (!name.endsWith('-src') && !name.endsWith('-src-elem')) return sources;
  const isNone = sources.length === 0 || sources.some((source) => source.toLowerCase() === "'none'");
  if (isNone && !INLINE.has(name)) return sources;
  const kept = sources.filter(
    (source) => !/^'(?:none|nonce-.*|sha\d+-.*|strict-dynamic|report-sample)'$/i.test(source),
  );
  const added = ["'self'", 'file:', ...(INLINE.has(name) ? ["'unsafe-inline'"] : [])];
  return [...kept, ...added.filter((source) => !kept.includes(source))];
}

/**
 * Goes to the start of the not-found page's head. A host serves this page at any URL, so its relative links need the
 * root as base. Opened by its own name (from disk or below a subpath), it needs no base.
 */
const NOT_FOUND_BASE =
  '<script>(function(s,b){if(!/^http/.test(location.protocol))return;if(/\\/404(\\.html)?$/.test(location.pathname))return;b.href="/";s.parentNode.insertBefore(b,s)})(document.currentScript,document.createElement("base"))</script>';
