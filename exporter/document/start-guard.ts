/** The type under which a script waits: no browser runs or fetches it. */
export const HELD_TYPE = 'galley/held';
/** What stands before the rel of a preload that waits. */
export const HELD_REL = 'galley-';

/**
 * The inline script that starts a hydrating page's scripts, and only where they can work: over HTTP and at the page's
 * original path, in any of the spellings a static host answers to. Elsewhere the static HTML stands as it is.
 *
 * Before it starts them it writes links from the root: a router changes the address without a new document, and a
 * relative link that outlives the move (navigation, sidebar, icon) would lead elsewhere.
 *
 * `path` is the page's original path; null for the not-found page, which a host shows at any address. The text holds
 * no `<` and no `&`, so it stands in XHTML too.
 */
export function startGuard(path: string | null): string {
  const otherwise = path === null ? NOT_FOUND_NOTICE : '';
  return `<script>(function(){${isAtHome(path)}if(!go){${otherwise}return}${START}})()</script>`;
}

/** Code that finds out, in the variable `go`, whether a page stands where its scripts can work. */
export function isAtHome(path: string | null): string {
  const isThere = path === null ? NOT_FOUND_IS_AT_HOME : `name(location.pathname)===name(${asciiLiteral(path)})`;
  return `${NAME}var go=false;try{go=/^http/.test(location.protocol)?${isThere}:false}catch(e){}`;
}

/** For the not-found page: shown at its own name below a folder, it is known to stand under a sub-path. */
const NOT_FOUND_IS_AT_HOME = '!/^\\/.+\\/404(\\.html)?$/.test(location.pathname)';

/** Many routers render the not-found page by script alone: without one it must still say what it is. */
const NOT_FOUND_NOTICE =
  "if(!document.body.innerText.trim()){var p=document.createElement('p'),a=document.createElement('a');p.textContent='Page not found. ';a.textContent='Home';a.href='index.html';p.appendChild(a);document.body.appendChild(p)}";

/** One name for `/a`, `/a.html`; for `/a/`, `/a/index`, `/a/index.html`. */
const NAME =
  "function name(p){return decodeURIComponent(p).replace(/(^|\\/)index(\\.html)?$/,'$1').replace(/\\.html?$/,'')}";

/**
 * Scripts that are started by a script run when the browser may already have told of `DOMContentLoaded`. Who begins to
 * listen too late is told at once, as the scripts of the page itself would have been.
 */
const LATE_LISTENERS = [
  "var told=false;document.addEventListener('DOMContentLoaded',function(){told=true});",
  'Array.prototype.forEach.call([document,window],function(t){var add=t.addEventListener;',
  "t.addEventListener=function(k,f,o){if(told)if(k==='DOMContentLoaded')if(f){",
  'setTimeout(function(){var e=new Event(k);if(f.handleEvent)f.handleEvent(e);else f.call(t,e)},0);return}',
  'return add.call(this||t,k,f,o)}});',
].join('');

const START = [
  LATE_LISTENERS,
  'function each(s,f){Array.prototype.forEach.call(document.querySelectorAll(s),f)}',
  'function root(e,k){var v=e.getAttribute(k);if(!v||/^(#|\\/\\/|[a-z][a-z0-9+.-]*:)/i.test(v))return;try{var u=new URL(v,document.baseURI);e.setAttribute(k,u.pathname+u.search+u.hash)}catch(x){}}',
  // Browsers ask for the icon again when the address changes; a stylesheet would be loaded twice if it were touched.
  "each('a[href],area[href],link[href]:not([rel~=stylesheet])',function(e){root(e,'href')});",
  "each('form[action]',function(e){root(e,'action')});",
  `each('link[rel^="${HELD_REL}"]',function(e){e.rel=e.rel.slice(${HELD_REL.length})});`,
  // A loader knows a script that has arrived by the address it was asked for with, spelled from the root.
  `each('script[type="${HELD_TYPE}"]',function(o){var n=document.createElement('script');`,
  "Array.prototype.forEach.call(o.attributes,function(a){if(a.name!=='type')if(a.name!=='data-galley-type')n.setAttribute(a.name,a.value)});",
  "if(o.getAttribute('data-galley-type'))n.type=o.getAttribute('data-galley-type');",
  "n.async=o.hasAttribute('async');if(n.src)root(n,'src');else n.text=o.text;o.parentNode.replaceChild(n,o)})",
].join('');

/** A string literal of ASCII only, safe inside a script element. */
function asciiLiteral(text: string): string {
  return JSON.stringify(text).replace(/[^\x20-\x7e]|[<>&]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
