import type { VNode } from 'preact';
import { Diff, TextDiff } from '../../ui/components/diff.tsx';
import { Markdown } from '../../ui/components/markdown.tsx';
import type { DiffFile } from '../../ui/foreign/diff-files.tsx';
import { renderWhole } from '../../ui/page.tsx';
import { createForeignRenderer, renderBounded } from '../../web/render-bounded.ts';
import { servePages } from '../helpers/serve-pages.ts';

/** Lines that all resemble each other, so that finding the pairs that changed takes seconds. */
function hostileFile(index: number): DiffFile {
  const lines = (kind: '+' | '-') =>
    Array.from({ length: 500 }, (_, line) => {
      const text = `${'abcdefgh '.repeat(100)}${(line * 7919 + index + (kind === '+' ? 1 : 0)) % 500}`;
      return { kind, text, endsWithoutNewline: false };
    });
  const groups = Array.from({ length: 25 }, (_, at) => at * 20);
  const hunks = groups.map((from) => ({
    ...{ header: '@@ -1 +1 @@', oldStart: from + 1, newStart: from + 1 },
    lines: [...lines('-').slice(from, from + 20), ...lines('+').slice(from, from + 20)],
  }));
  const modes = { oldMode: '100644', newMode: '100644' };
  return {
    path: `${index}.txt`,
    previousPath: null,
    status: 'modified',
    additions: 500,
    deletions: 500,
    ...modes,
    patch: { hunks },
  };
}

const HOSTILE = Array.from({ length: 4 }, (_, index) => hostileFile(index));

const FILE: DiffFile = {
  ...hostileFile(0),
  ...{ path: 'greeting.txt', additions: 1, deletions: 1 },
  patch: {
    hunks: [
      {
        ...{ header: '@@ -1 +1 @@', oldStart: 1, newStart: 1 },
        lines: [
          { kind: '-', text: 'Hello <b>world</b>', endsWithoutNewline: false },
          { kind: '+', text: 'Hello <b>moon</b>', endsWithoutNewline: false },
        ],
      },
    ],
  },
};

describe('what is foreign in a page', () => {
  it('is rendered in a thread: Markdown, marks within changed lines, and differences of pages', async () => {
    const html = await renderBounded(
      <div>
        <Markdown>{'**bold** <script>'}</Markdown>
        <Diff files={[FILE]} />
        <TextDiff path="index.html" before="<p>one<p>two" after="<p>one<p>three" />
      </div>,
    );
    expect(html).toContain('<strong>bold</strong> &lt;script&gt;');
    expect(html).toContain('Hello &lt;b&gt;<del>world</del>&lt;');
    expect(html).toContain('<ins>three</ins>');
    expect(html).not.toContain('<script>');
  });

  it('is plain text if it takes too long', async () => {
    const renderForeign = createForeignRenderer({ limitMs: 1 });
    const page: VNode = (
      <div>
        <Markdown>{'**bold** <script>'}</Markdown>
        <Diff files={HOSTILE} />
      </div>
    );
    const html = await renderWhole(page, renderForeign);
    expect(html).toContain('**bold** &lt;script>');
    expect(html.match(/<tr class="d2h-ins">/g)).toHaveLength(2_000);
    expect(html).not.toMatch(/<ins>|<del>|<script>/);
  });

  it('holds up no other page', async () => {
    const { origin, stop } = await servePages({ hostile: () => <Diff files={HOSTILE} />, other: () => <p>alive</p> });
    const ended: string[] = [];
    const load = async (name: string) => {
      const html = await (await fetch(`${origin}/${name}`)).text();
      ended.push(name);
      return html;
    };
    const hostile = load('hostile');
    expect(await load('other')).toContain('alive');
    expect(await hostile).toContain('3.txt');
    expect(ended).toEqual(['other', 'hostile']);
    stop();
  });
});
