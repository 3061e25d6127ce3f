import { randomUUID } from 'node:crypto';
import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { renderToString } from 'preact-render-to-string';
import type { DiffFile } from './diff-files.tsx';

/**
 * Content from outside that may take seconds to render. `text-diff` compares two versions of a file; of HTML, the text
 * that people read.
 */
export type ForeignPart =
  | { kind: 'markdown'; text: string }
  | { kind: 'diff'; files: readonly DiffFile[] }
  | { kind: 'text-diff'; path: string; before: string; after: string };

/** Returns the HTML of each part; undefined if that takes too long. */
export type RenderForeign = (parts: readonly ForeignPart[]) => Promise<readonly string[] | undefined>;

/** Takes a part, and returns the text that stands for it until it is rendered. */
type Collect = (part: ForeignPart) => string;

const Collecting = createContext<Collect | undefined>(undefined);

/** A part of a page that is rendered outside of it, or `plain` if that takes too long. */
export function Foreign({ part, plain }: { part: ForeignPart; plain: ComponentChildren }) {
  const collect = useContext(Collecting);
  return <>{collect === undefined ? plain : collect(part)}</>;
}

/** Renders a page with its foreign parts; undefined if they take too long. */
export async function renderWithForeign(page: VNode, renderForeign: RenderForeign): Promise<string | undefined> {
  // No text from outside can contain it, so none is taken for a part.
  const mark = randomUUID();
  const parts: ForeignPart[] = [];
  const collect: Collect = (part) => `${mark}:${parts.push(part) - 1};`;
  const html = renderToString(<Collecting.Provider value={collect}>{page}</Collecting.Provider>);
  if (parts.length === 0) return html;
  const rendered = await renderForeign(parts);
  return rendered && html.replaceAll(new RegExp(`${mark}:(\\d+);`, 'g'), (_all, index) => rendered[index] ?? '');
}
