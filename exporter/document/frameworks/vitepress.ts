import { decodeBytes } from '../spanned-text.ts';
import type { FrameworkAdapter, FrameworkPage, Mention, Patch } from './adapter.ts';

/** Both match within one tag and a bounded length, so that hostile documents stay linear to scan. */
const ENTRY = /<script\b[^<>]{0,2000}\ssrc="([^"<>]{0,2000}?)(assets\/)(?:app|chunks\/metadata)\.[\w-]{1,200}\.js"/;
const LEAN_CHUNK = /<link\b[^<>]{0,2000}\shref="([^"<>]{1,2000}\.md\.[\w-]{1,200})\.lean\.js"/;
const HASH_MAP = /__VP_HASH_MAP__\s*=\s*JSON\.parse\(("(?:[^"\\]|\\.)*")\)/;
const SITE_DATA = '__VP_SITE_DATA__';
const CLEAN_URLS = /\\"cleanUrls\\":true/g;
const METADATA_CHUNK = /\/chunks\/metadata\.[\w-]+\.js$/;

/**
 * VitePress: each page has two script chunks. `{page}.md.{hash}.lean.js` is preloaded for the first visit; the router
 * loads `{page}.md.{hash}.js`, whose hash appears only in `__VP_HASH_MAP__`.
 */
export const vitepress: FrameworkAdapter = {
  name: 'vitepress',
  startsByClassicScripts: false,
  detect: (html) => html.includes('content="VitePress') || html.includes('__VP_HASH_MAP__'),

  discover(page) {
    const [, base] = ENTRY.exec(page.html) ?? [];
    if (base === undefined) return [];
    const [, chunk] = LEAN_CHUNK.exec(page.html) ?? [];
    const own: Mention[] = chunk === undefined ? [] : [{ url: `${chunk}.js`, kind: 'asset' }];
    // The router requests the hash map again when a chunk is missing.
    const hashMap: Mention = { url: `${base}hashmap.json`, kind: 'probe' };
    // Every page has the full map. Only the start page is read for it, to avoid quadratic cost.
    return [...own, hashMap, ...(isStartPage(page, base) ? chunksOf(page.html, `${base}assets/`) : [])];
  },

  discoverInScript(url, script) {
    return METADATA_CHUNK.test(url) ? chunksOf(script, '../') : [];
  },

  /** If clean URLs are off, the router writes `.html` itself, so its URLs can be reloaded on any host. */
  patch(text): Patch[] {
    const from = text.lastIndexOf(SITE_DATA);
    const last = from < 0 ? undefined : [...text.slice(from).matchAll(CLEAN_URLS)].at(-1);
    if (last === undefined) return [];
    const end = from + last.index + last[0].length;
    return [{ start: end - 'true'.length, end, text: 'false' }];
  },
};

function isStartPage({ url }: FrameworkPage, base: string): boolean {
  return new URL(url).pathname.replace(/index\.html$/, '') === new URL(base, url).pathname;
}

/** Both chunks of every page in the map. Keys are lower case but file names may not be, so these are guesses. */
function chunksOf(text: string, folder: string): Mention[] {
  const [, json] = HASH_MAP.exec(text) ?? [];
  if (json === undefined) return [];
  return Object.entries(hashMap(json)).flatMap(([page, hash]) => {
    const chunk = `${folder}${encodeURIComponent(page)}.${hash}`;
    return [
      { url: `${chunk}.js`, kind: 'probe' as const },
      { url: `${chunk}.lean.js`, kind: 'probe' as const },
    ];
  });
}

function hashMap(json: string): Record<string, string> {
  try {
    return JSON.parse(JSON.parse(decodeBytes(json)));
  } catch {
    return {};
  }
}
