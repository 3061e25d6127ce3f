import { isAtHome } from '../document/start-guard.ts';
import type { ScriptPolicy } from '../settings.ts';
import type { ShownPage } from './show-page.ts';

/** Where the guard goes; a comment, because it doesn't end the head. */
const GUARD_MARK = 'galley-guard';

/**
 * Runs in the page. `origin` is the page's original markup; `keep` says whether the origin's scripts stay. Returns
 * null if the page has no head or body, or has more than `maxLength` characters.
 */
const SERIALIZE = `function (origin, keep, maxLength) {
  if (!document.head || !document.body) return null;
  const sent = new DOMParser().parseFromString(origin, 'text/html');
  const each = (root, selector, visit) => root.querySelectorAll(selector).forEach(visit);
  const isData = (script) => script.type !== '' && !/^(module|importmap|speculationrules|(text|application)\\/(x-)?(java|ecma)script)$/i.test(script.type.trim());
  const keyOf = (script) => (script.getAttribute('src') ?? '') + '\\n' + script.textContent;
  const sentScripts = new Set([...sent.scripts].map(keyOf));

  const roots = [document];
  for (const root of roots) each(root, '*', (element) => element.shadowRoot && roots.push(element.shadowRoot));
  for (const root of roots) {
    // Rules that scripts add to a sheet stand in no text.
    each(root, 'style', (style) => {
      if (style.textContent.trim() === '' && style.sheet) style.textContent = [...style.sheet.cssRules].map((rule) => rule.cssText).join('\\n');
    });
    for (const sheet of root.adoptedStyleSheets ?? []) {
      const style = document.createElement('style');
      style.textContent = [...sheet.cssRules].map((rule) => rule.cssText).join('\\n');
      (root === document ? document.head : root).append(style);
    }
    // Scripts that run insert their scripts again; if none run, none are needed.
    each(root, 'script', (script) => {
      if (!isData(script) && !(keep && sentScripts.has(keyOf(script)))) script.remove();
    });
    if (keep) continue;
    each(root, 'noscript', (element) => element.remove());
    each(root, 'link[rel~=modulepreload], link[rel~=prefetch], link[rel~=preload], link[rel~=prerender]', (link) => link.remove());
  }
  document.head.prepend(document.createComment('${GUARD_MARK}'));
  const doctypeOf = (doc) => (doc.doctype ? new XMLSerializer().serializeToString(doc.doctype) : '');
  const attributesOf = (element) => [...element.attributes].map(({ name, value }) =>
    ' ' + name + '="' + value.replaceAll('&', '&amp;').replaceAll('"', '&quot;') + '"').join('');
  const inner = document.documentElement.getHTML ? document.documentElement.getHTML({ shadowRoots: roots.slice(1) }) : document.documentElement.innerHTML;
  const html = doctypeOf(document) + '<html' + attributesOf(document.documentElement) + '>' + inner + '</html>\\n';
  if (html.length > maxLength) return null;
  const markup = '<galley-html' + attributesOf(sent.documentElement) + '><galley-head>' + sent.head.innerHTML +
    '</galley-head><galley-body' + attributesOf(sent.body) + '>' + sent.body.innerHTML + '</galley-body></galley-html>';
  return { html, origin: { doctype: doctypeOf(sent), markup } };
}`;

type Serialized = { html: string; origin: OriginMarkup };

function isSerialized(value: unknown): value is Serialized {
  return typeof value === 'object' && value !== null && 'html' in value && typeof value.html === 'string';
}

/**
 * Serializes the rendered page, with open shadow roots and style rules that scripts added. Its scripts depend on the
 * policy: `strip` removes all; `keep` keeps those of the origin, which run on the rendered page; `auto` removes them
 * and runs the original page's scripts if they can work (`originGuard`). Undefined if there is no page or it is too
 * large.
 */
export async function serializePage(
  shown: ShownPage,
  options: { originHtml: string; scripts: ScriptPolicy; path: string | null; maxLength: number },
): Promise<string | undefined> {
  const { originHtml, scripts, path, maxLength } = options;
  const input = [JSON.stringify(originHtml), String(scripts === 'keep'), String(maxLength)].join(', ');
  const value = await shown.evaluate(`(${SERIALIZE})(${input})`);
  if (!isSerialized(value)) return undefined;
  const guard = scripts === 'auto' ? originGuard(value.origin, path) : '';
  // A function, because a string could contain replacement patterns.
  return value.html.replace(`<!--${GUARD_MARK}-->`, () => guard);
}

/** The id of the template that holds the page's original markup. */
const ORIGIN_ID = 'galley-origin';

/** The page's original markup in a form that fits into a template, which drops `html`, `head` and `body`. */
type OriginMarkup = {
  /** Such as `<!DOCTYPE html>`; empty if there was none. */
  doctype: string;
  /** The markup with those three elements named `galley-html`, `galley-head` and `galley-body`. */
  markup: string;
};

/**
 * The start of the head of a rendered page whose scripts may run. At the page's original path over HTTP, it replaces
 * the rendered page with the original markup, so that scripts don't run on their own output. Elsewhere it removes
 * itself, and the rendered page stays.
 *
 * Relative links of the original become root-relative first, because a router changes the URL without loading a
 * document. `path` is the page's original path; null for the not-found page, which a host serves at any URL.
 */
function originGuard({ doctype, markup }: OriginMarkup, path: string | null): string {
  const template = `<template id="${ORIGIN_ID}" data-doctype="${doctype.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">${markup}</template>`;
  // Browsers look for the charset only in the first bytes of a page.
  return `<meta charset="utf-8">${template}<script>(function(){${isAtHome(path)}${SWITCH}})()</script>`;
}

const SWITCH = [
  `var t=document.getElementById('${ORIGIN_ID}'),me=document.currentScript;`,
  'if(!go){t.remove();me.remove();return}',
  'function root(e,k){var v=e.getAttribute(k);if(!v||/^(#|\\/\\/|[a-z][a-z0-9+.-]*:)/i.test(v))return;try{var u=new URL(v,document.baseURI);e.setAttribute(k,u.pathname+u.search+u.hash)}catch(x){}}',
  "['href','src','action','poster','data'].forEach(function(k){t.content.querySelectorAll('['+k+']').forEach(function(e){root(e,k)})});",
  "var text=(t.dataset.doctype||'')+t.innerHTML.replace(/<(\\/?)galley-(html|head|body)(?=[\\s>])/g,'<$1$2');",
  // `document.open` works only after parsing ends, and deferred scripts of the new document start only after all
  // `DOMContentLoaded` listeners have returned. The page stays hidden until then to avoid flicker.
  "document.documentElement.style.visibility='hidden';",
  "document.addEventListener('DOMContentLoaded',function(){setTimeout(function(){document.open();document.write(text);document.close()},0)})",
].join('');
