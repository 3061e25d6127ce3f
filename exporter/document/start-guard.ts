/** The type of a script that waits; browsers neither run nor fetch it. */
export const HELD_TYPE = 'galley/held';
/** The prefix of the rel of a preload that waits. */
export const HELD_REL = 'galley-';

/**
 * The inline script that starts a hydrating page's scripts only if they can work: over HTTP and at the page's original
 * path, in any spelling that static hosts accept. Otherwise the static HTML stays as it is.
 *
 * First it makes links root-relative, because a router changes the URL without loading a document, and relative links
 * in the navigation, sidebar or icon would then break.
 *
 * `path` is the page's original path; null for the not-found page, which a host serves at any URL. The text has no `<`
 * and no `&`, so it is valid in XHTML too.
 */
export function startGuard(path: string | null): string {
  const otherwise = path === null ? NOT_FOUND_NOTICE : '';
  return `<script>(function(){${isAtHome(path)}if(!go){${otherwise}return}${START}})()</script>`;
}

/** Code that sets the variable `go` to whether the page's scripts can work here. */
export function isAtHome(path: string | null): string {
  const isThere = path === null ? NOT_FOUND_IS_AT_HOME : `name(location.pathname)===name(${asciiLiteral(path)})`;
  return `${NAME}var go=false;try{go=/^http/.test(location.protocol)?${isThere}:false}catch(e){}`;
}

/** If the not-found page is opened by its own name in a folder, the site runs below a subpath. */
const NOT_FOUND_IS_AT_HOME = '!/^\\/.+\\/404(\\.html)?$/.test(location.pathname)';

/** Many routers render the not-found page by script only, so without scripts it needs a message. */
const NOT_FOUND_NOTICE =
  "if(!document.body.innerText.trim()){var p=document.createElement('p'),a=document.createElement('a');p.textContent='Page not found. ';a.textContent='Home';a.href='index.html';p.appendChild(a);document.body.appendChild(p)}";

/** Normalizes paths: `/a` equals `/a.html`, and `/a/` equals `/a/index` and `/a/index.html`. */
const NAME =
  "function name(p){return decodeURIComponent(p).replace(/(^|\\/)index(\\.html)?$/,'$1').replace(/\\.html?$/,'')}";

/**
 * Injected scripts may run after `DOMContentLoaded`. Listeners added later are called at once, because the event
 * doesn't fire again.
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
  // Browsers request the icon again when the URL changes. A changed stylesheet link would load the file twice.
  "each('a[href],area[href],link[href]:not([rel~=stylesheet])',function(e){root(e,'href')});",
  "each('form[action]',function(e){root(e,'action')});",
  `each('link[rel^="${HELD_REL}"]',function(e){e.rel=e.rel.slice(${HELD_REL.length})});`,
  // Bundle loaders recognize a loaded script by its root-relative URL.
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
