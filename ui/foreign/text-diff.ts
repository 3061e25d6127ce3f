import { structuredPatch } from 'diff';
import { Parser } from 'htmlparser2';
import type { DiffFile, Line } from './diff-files.tsx';

/** The difference of two files. Of HTML, it is that of the text that people read. It may take long. */
export function compareTexts({ path, ...texts }: { path: string; before: string; after: string }): DiffFile {
  const isHtml = /\.html?$/i.test(path);
  const [before, after] = isHtml
    ? [readableText(texts.before), readableText(texts.after)]
    : [texts.before, texts.after];
  const patch = structuredPatch(path, path, before, after, '', '', { context: 3 });
  const hunks = patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    header: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...{ oldStart, newStart },
    lines: lines.flatMap(patchLine),
  }));
  const count = (kind: string) => hunks.flatMap(({ lines }) => lines).filter((line) => line.kind === kind).length;
  return {
    ...{ path, previousPath: null, status: 'modified', oldMode: '100644', newMode: '100644' },
    additions: count('+'),
    deletions: count('-'),
    patch: { hunks },
  };
}

/** Anything else, such as the note on a missing line break, isn't a line of the file. */
function patchLine(line: string): Line[] {
  const sign = line[0];
  const text = line.slice(1);
  return sign === '+' || sign === '-' || sign === ' ' ? [{ kind: sign, text, endsWithoutNewline: false }] : [];
}

const BLOCKS = new Set(
  'address article aside blockquote br dd div dl dt figcaption footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul title'.split(
    ' ',
  ),
);
const UNREAD = new Set(['script', 'style', 'template', 'noscript', 'svg']);

/** The text of a page, one line for each block. */
function readableText(html: string): string {
  const lines: string[] = [];
  let line = '';
  let unread = 0;
  const end = () => {
    const trimmed = line.replaceAll(/\s+/g, ' ').trim();
    if (trimmed !== '') lines.push(trimmed);
    line = '';
  };
  const parser = new Parser({
    onopentag(name) {
      if (UNREAD.has(name)) unread += 1;
      if (BLOCKS.has(name)) end();
    },
    onclosetag(name) {
      if (UNREAD.has(name)) unread -= 1;
      if (BLOCKS.has(name)) end();
    },
    ontext(part) {
      if (unread === 0) line += part;
    },
  });
  parser.end(html);
  end();
  return `${lines.join('\n')}\n`;
}
