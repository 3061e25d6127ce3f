/** The type under which a script waits: no browser runs or fetches it. */
export const HELD_TYPE = 'galley/held';
/** What stands before the rel of a preload that waits. */
export const HELD_REL = 'galley-';

/**
 * The inline script that starts a hydrating page's scripts, and only where they can work: over HTTP and at the page's
 * original path, in any of the spellings a static host answers to. Elsewhere the static HTML stands as it is.
 *
 * Before it starts them it writes links from the root: a router changes the address without a new document, and a
 * relative link that outlives the move (navigation, sidebar) would lead elsewhere.
 *
 * `path` is the page's original path; null for the not-found page, which a host shows at any address. The text holds
 * no `<` and no `&`, so it stands in XHTML too.
 */
export function startGuard(path: string | null): string {
  const condition = path === null ? NOT_FOUND_IS_AT_HOME : `name(location.pathname)===name(${asciiLiteral(path)})`;
  return `<script>(function(){${NAME}try{if(!(${condition}))return}catch(e){return}if(!/^http/.test(location.protocol))return;${START}})()</script>`;
}

/** For the not-found page: shown at its own name below a folder, it is known to stand under a sub-path. */
const NOT_FOUND_IS_AT_HOME = '!/^\\/.+\\/404(\\.html)?$/.test(location.pathname)';

/** One name for `/a`, `/a.html`; for `/a/`, `/a/index`, `/a/index.html`. */
const NAME =
  "function name(p){return decodeURIComponent(p).replace(/(^|\\/)index(\\.html)?$/,'$1').replace(/\\.html?$/,'')}";

const START = [
  'function each(s,f){Array.prototype.forEach.call(document.querySelectorAll(s),f)}',
  'function root(e,k){var v=e.getAttribute(k);if(!v||/^(#|\\/\\/|[a-z][a-z0-9+.-]*:)/i.test(v))return;try{var u=new URL(v,document.baseURI);e.setAttribute(k,u.pathname+u.search+u.hash)}catch(x){}}',
  "each('a[href],area[href]',function(e){root(e,'href')});",
  "each('form[action]',function(e){root(e,'action')});",
  `each('link[rel^="${HELD_REL}"]',function(e){root(e,'href');e.rel=e.rel.slice(${HELD_REL.length})});`,
  `each('script[type="${HELD_TYPE}"]',function(o){var n=document.createElement('script');`,
  "Array.prototype.forEach.call(o.attributes,function(a){if(a.name!=='type')if(a.name!=='data-galley-type')n.setAttribute(a.name,a.value)});",
  "if(o.getAttribute('data-galley-type'))n.type=o.getAttribute('data-galley-type');",
  "n.async=o.hasAttribute('async');if(!n.src)n.text=o.text;o.parentNode.replaceChild(n,o)})",
].join('');

/** A string literal of ASCII only, safe inside a script element. */
function asciiLiteral(text: string): string {
  return JSON.stringify(text).replace(/[^\x20-\x7e]|[<>&]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
