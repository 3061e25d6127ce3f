import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Parser } from 'htmlparser2';
import { encodePath } from '../bundle/url.ts';
import type { BundleFile, BundleManifest } from '../contract/bundle.ts';
import { isMadeSearchPage } from '../exporter/search/plan-search.ts';
import { SHORTCUT_PATH } from '../exporter/urls/assign-path.ts';

/** A page to open: its path and query at the origin, and the number of its template. */
export type PickedPage = { target: string; template: number };

/** Pages whose DOM is read; of a larger site, these are spread over all. */
const MAX_READ = 5_000;
const MAX_READ_BYTES = 64 * 1024;
const MAX_DEPTH = 6;

/**
 * Picks up to `maxPages` pages of an unpacked bundle: the start page, and then as many of each template as of the others.
 * A template is all pages with the same shape of URL and DOM. The same bundle has the same pages picked.
 */
export async function pickPages(
  folder: string,
  manifest: BundleManifest,
  maxPages: number,
): Promise<{ picked: PickedPage[]; templateCount: number; pageCount: number }> {
  const isSearchable = manifest.files.some(({ path }) => path === SHORTCUT_PATH);
  const pages = manifest.files
    .filter((file) => isPage(file) && !(isSearchable && isMadeSearchPage(file.path)))
    .map((file) => ({ file, target: targetOf(file) }));
  const templates = new Map<string, string[]>();
  for (const { file, target } of spread(pages, Math.min(pages.length, Math.max(MAX_READ, maxPages)))) {
    const key = `${urlShape(target)} ${await domShape(join(folder, file.path))}`;
    templates.set(key, [...(templates.get(key) ?? []), target]);
  }
  const largestFirst = [...templates.values()].toSorted((a, b) => b.length - a.length);
  const counts = countsPerTemplate(largestFirst, maxPages);
  const picked = largestFirst.flatMap((targets, template) =>
    spread(targets, counts[template] ?? 0).map((target) => ({ target, template })),
  );
  const startTemplate = largestFirst.findIndex((targets) => targets.includes('/'));
  const withStart =
    startTemplate < 0 || picked.some(({ target }) => target === '/')
      ? picked
      : [{ target: '/', template: startTemplate }, ...picked.slice(0, Math.max(0, maxPages - 1))];
  return { picked: withStart, templateCount: largestFirst.length, pageCount: pages.length };
}

function isPage({ path, contentType, encoding, url }: BundleFile): boolean {
  const isNotFound = path === '404.html' && url === undefined;
  return encoding === undefined && !isNotFound && /^(text\/html|application\/xhtml\+xml)\b/i.test(contentType);
}

function targetOf({ path, url }: BundleFile): string {
  return url ?? `/${encodePath(path)}`;
}

/** Depth, first folder, ending and whether there is a query; numbers are all the same. */
function urlShape(target: string): string {
  const [path = '', query] = target.split('?');
  const segments = path.split('/').slice(1);
  const first = segments.length > 1 ? (segments[0] ?? '').replace(/\d+/g, '#') : '';
  const ending = /\.[a-z]+$|\/$/.exec(path)?.[0] ?? '';
  return `${segments.length} ${first} ${ending} ${query === undefined ? '' : '?'}`;
}

/** A hash of which elements are nested in which, near the root; how often each occurs and what it holds don't matter. */
async function domShape(file: string): Promise<string> {
  const paths = new Set<string>();
  const above: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      const [style = ''] = (attributes.class ?? '').trim().split(/\s+/);
      above.push(`${name}.${style.replace(/\d+/g, '#')}`);
      if (above.length <= MAX_DEPTH && above[1]?.startsWith('body')) paths.add(above.join('>'));
    },
    onclosetag() {
      above.pop();
    },
  });
  parser.end(await readStart(file));
  return createHash('sha256')
    .update([...paths].sort().join('\n'))
    .digest('hex')
    .slice(0, 12);
}

async function readStart(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_READ_BYTES), 0, MAX_READ_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function countsPerTemplate(templates: readonly (readonly string[])[], maxPages: number): number[] {
  const counts = templates.map(() => 0);
  let left = Math.min(
    maxPages,
    templates.reduce((sum, { length }) => sum + length, 0),
  );
  while (left > 0) {
    for (const [index, { length }] of templates.entries()) {
      const count = counts[index] ?? 0;
      if (left === 0 || count === length) continue;
      counts[index] = count + 1;
      left -= 1;
    }
  }
  return counts;
}

/** `count` of the items, at equal distances. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  return items.filter((_, index) => Math.ceil((index * count) / items.length) < ((index + 1) * count) / items.length);
}
