import { isAtHome } from '../document/start-guard.ts';

/** The id of the template that holds the page's original markup. */
const ORIGIN_ID = 'galley-origin';

/** The page's original markup in a form that fits into a template, which drops `html`, `head` and `body`. */
export type OriginMarkup = {
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
export function originGuard({ doctype, markup }: OriginMarkup, path: string | null): string {
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
