import { z } from 'zod';
import type { FrameworkAdapter, Mention } from './adapter.ts';

const ASSET_PREFIX = /(?:src|href)="([^"]*?\/_next\/)static\//;
const BUILD_ID = /"buildId":"([^"]+)"/;
const OWN_FILES = /^(.*\/_next\/)static\//;
const CHUNK = /["'](static\/[^"'\\]{1,300}\.(?:js|css|wasm))["']/g;

/** Next.js, pages and app router: page data, and chunks that scripts refer to without their folder. */
export const next: FrameworkAdapter = {
  name: 'next',
  startsByClassicScripts: true,
  detect: (html) => html.includes('id="__NEXT_DATA__"') || html.includes('self.__next_f'),

  discover({ html, url }) {
    const { pathname } = new URL(url);
    const page = pathname.replace(/(?<=\/)index\.html$|\.html$/, '');
    if (!html.includes('__NEXT_DATA__')) return appData(page);
    const [, prefix] = ASSET_PREFIX.exec(html) ?? [];
    const [, buildId] = BUILD_ID.exec(html) ?? [];
    if (prefix === undefined || buildId === undefined) return [];
    return [{ url: `${prefix}data/${buildId}${page.replace(/\/$/, '') || '/index'}.json`, kind: 'probe' }];
  },

  discoverInScript(url, script) {
    const [, folder] = OWN_FILES.exec(url) ?? [];
    if (folder === undefined) return [];
    return [...script.matchAll(CHUNK)].map(([, chunk = '']) => ({ url: `${folder}${chunk}`, kind: 'probe' }));
  },
};

/** What the app router requests instead of a page; `index` if the page's URL ends with a slash. */
function appData(page: string): Mention[] {
  const folder = page.replace(/\/$/, '');
  return [
    { url: folder === page && page !== '' ? `${page}.txt` : `${folder}/index.txt`, kind: 'probe' },
    { url: `${folder}/__next._tree.txt`, kind: 'probe' },
  ];
}

/**
 * Next's app router, exported as static files. Each page has a `__next._tree.txt` that lists its segments. Before
 * following a link, the router requests this tree and then one file per segment (`__next.{segment}.{segment}….txt`).
 *
 * A tree has lines `{number}:{JSON}`, and a line can include another as `$Q{number}`. Versions use different keys: `s`
 * and `c`, or `name` with `paramType` and `slots`.
 */

const TREE = /\/__next\._tree\.txt$/;
const ROW = /^([\da-f]+):([[{].*)$/gm;
const OUTLINED = /^\$[QW]?([\da-f]+)$/;
const PLAIN = /^[\w@-]+$/;
const NOT_FOUND = '/_not-found';
const MAX_SEGMENTS = 200;
/** The root segment, the page's head, and the full page: every page has these. */
const ALWAYS = ['_index', '_head', '_full'];

const parameter = z.object({ n: z.string(), t: z.string() });
const node = z.object({
  s: z.union([z.string(), parameter]).optional(),
  c: z.unknown().optional(),
  name: z.string().optional(),
  paramType: z.string().nullish(),
  slots: z.unknown().optional(),
});
const root = z.union([
  z.object({ t: z.object({ t: z.unknown() }) }).transform(({ t }) => t.t),
  z.object({ tree: z.unknown() }).transform(({ tree }) => tree),
]);
const slotList = z.union([
  z.array(z.tuple([z.string(), z.unknown()])),
  z.record(z.string(), z.unknown()).transform((slots) => Object.entries(slots)),
]);

type Rows = ReadonlyMap<string, unknown>;

/** Whether a file is a page's tree. `path` is the URL's path without the query. */
export function isNextTree(path: string): boolean {
  return TREE.test(path);
}

/** The files of a page's segments, relative to its tree; empty if the tree can't be read. */
export function nextSegments(bytes: Uint8Array): Mention[] {
  const rows = rowsOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  const top = root.safeParse(rows.get('0'));
  if (!top.success) return [];
  const names = [...ALWAYS, ...segmentsBelow(top.data, rows)];
  return names.map((name) => ({ url: `__next.${encodeURIComponent(name)}.txt`, kind: 'probe' }));
}

function rowsOf(text: string): Rows {
  const rows = new Map<string, unknown>();
  for (const [, id = '', json = ''] of text.matchAll(ROW)) {
    try {
      rows.set(id, JSON.parse(json));
    } catch {
      // A line that isn't JSON holds other data.
    }
  }
  return rows;
}

/** The names of all segments below the root. Bounded, because a tree may have cycles. */
function segmentsBelow(top: unknown, rows: Rows): string[] {
  const names: string[] = [];
  const left = [{ tree: top, prefix: '' }];
  for (let next = left.shift(); next !== undefined && names.length < MAX_SEGMENTS; next = left.shift()) {
    for (const [slot, child] of slotsOf(next.tree, rows)) {
      const segment = segmentOf(resolved(child, rows));
      if (segment === undefined) continue;
      const name = `${next.prefix}${slot === 'children' ? '' : `@${safeName(slot)}.`}${segment}`;
      names.push(name);
      left.push({ tree: child, prefix: `${name}.` });
    }
  }
  return names;
}

function slotsOf(tree: unknown, rows: Rows): [string, unknown][] {
  const read = node.safeParse(resolved(tree, rows));
  if (!read.success) return [];
  const slots = slotList.safeParse(resolved(read.data.c ?? read.data.slots, rows));
  return slots.success ? slots.data : [];
}

function segmentOf(tree: unknown): string | undefined {
  const { data } = node.safeParse(tree);
  if (data === undefined) return undefined;
  const { s: own = data.name, paramType } = data;
  if (typeof own === 'object') return `$${own.t}$${safeName(own.n)}`;
  if (own === undefined) return undefined;
  return paramType ? `$${paramType}$${safeName(own)}` : safeName(own);
}

function resolved(value: unknown, rows: Rows): unknown {
  const [, row] = (typeof value === 'string' ? OUTLINED.exec(value) : null) ?? [];
  return row === undefined ? value : rows.get(row);
}

/** A name inside a file name: plain, or in base64 after a mark. */
function safeName(name: string): string {
  if (name === NOT_FOUND) return NOT_FOUND.slice(1);
  return PLAIN.test(name) ? name : `!${Buffer.from(name, 'latin1').toString('base64url')}`;
}
