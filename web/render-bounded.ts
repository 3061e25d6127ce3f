import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { VNode } from 'preact';
import { createBoundedThreads, WorkRefused } from '../base/bounded-threads.ts';
import type { RenderForeign } from '../ui/foreign/foreign.tsx';
import { renderWhole } from '../ui/page.tsx';
import type * as tasks from './render-tasks.ts';

const MAX_RENDERING_MS = 3_000;
/** Rendered parts that are kept: pages are loaded again, and live parts of pages are rendered every second. */
const KEPT_CHARACTERS = 16 * 1024 * 1024;
const KEPT_MS = 10 * 60_000;

/** Renders foreign parts in a thread, for at most `limitMs`. Requests for the same parts share the work. */
export function createForeignRenderer({ limitMs = MAX_RENDERING_MS } = {}): RenderForeign {
  // The build rewrites imports but not this, so the tasks' extension is this file's.
  const module = new URL(`./render-tasks${extname(import.meta.url)}`, import.meta.url).href;
  // At worst, a page waits for as long as two others take before it is shown as plain text.
  const threads = createBoundedThreads<typeof tasks>({ module, limitMs, threads: 2, maxWaiting: 4 });
  /** Null: the parts take too long. */
  const kept = new LRUCache<string, { html: readonly string[] | null }>({
    maxSize: KEPT_CHARACTERS,
    ttl: KEPT_MS,
    sizeCalculation: ({ html }) => 1_000 + (html ?? []).reduce((sum, { length }) => sum + length, 0),
  });

  return async (parts) => {
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('base64');
    const known = kept.get(key);
    if (known !== undefined) return known.html ?? undefined;
    try {
      const html = await threads.run('renderParts', parts, key);
      kept.set(key, { html });
      return html;
    } catch (error) {
      // Parts that are refused now may be rendered later; the others would fail again.
      if (!(error instanceof WorkRefused)) kept.set(key, { html: null });
      return undefined;
    }
  };
}

const renderForeign = createForeignRenderer();

/** Renders a page or a part of one. What is foreign in it is rendered in a thread, or shown as plain text. */
export async function renderBounded(page: VNode): Promise<string> {
  return await renderWhole(page, renderForeign);
}
