import { isAtHome } from '../document/start-guard.ts';

/** The id of the template that holds a page as the origin sent it. */
const ORIGIN_ID = 'galley-origin';

/** A page as the origin sent it, in parts that fit into a template: a template drops `html`, `head` and `body`. */
export type OriginMarkup = {
  /** As `<!DOCTYPE html>`; empty where there was none. */
  doctype: string;
  /** The markup with those three elements named `galley-html`, `galley-head` and `galley-body`. */
  markup: string;
};

/**
 * What stands first in the head of a drawn page whose scripts may run. At the page's original path, over HTTP, it puts
 * the page as the origin sent it in the place of the drawn one, so that scripts start on what they were written for
 * and never on their own work. Elsewhere it goes away, and the drawn page stands.
 *
 * Relative links of the original are written from the root first: a router changes the address without a new document.
 * `path` is the page's original path; null for the not-found page, which a host shows at any address.
 */
export function originGuard({ doctype, markup }: OriginMarkup, path: string | null): string {
  const template = `<template id="${ORIGIN_ID}" data-doctype="${doctype.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">${markup}</template>`;
  // Looked for in the first bytes of a page only.
  return `<meta charset="utf-8">${template}<script>(function(){${isAtHome(path)}${SWITCH}})()</script>`;
}

const SWITCH = [
  `var t=document.getElementById('${ORIGIN_ID}'),me=document.currentScript;`,
  'if(!go){t.remove();me.remove();return}',
  'function root(e,k){var v=e.getAttribute(k);if(!v||/^(#|\\/\\/|[a-z][a-z0-9+.-]*:)/i.test(v))return;try{var u=new URL(v,document.baseURI);e.setAttribute(k,u.pathname+u.search+u.hash)}catch(x){}}',
  "['href','src','action','poster','data'].forEach(function(k){t.content.querySelectorAll('['+k+']').forEach(function(e){root(e,k)})});",
  "var text=(t.dataset.doctype||'')+t.innerHTML.replace(/<(\\/?)galley-(html|head|body)(?=[\\s>])/g,'<$1$2');",
  // A document can be opened anew only when its parser has ended, and starts deferred scripts only when what listens to
  // that end has ended too. Until then nothing shows, so nothing flickers.
  "document.documentElement.style.visibility='hidden';",
  "document.addEventListener('DOMContentLoaded',function(){setTimeout(function(){document.open();document.write(text);document.close()},0)})",
].join('');
