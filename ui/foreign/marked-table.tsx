import { html as renderDiff } from 'diff2html';
import { type DiffBlock, type DiffLine, LineType } from 'diff2html/lib/types.js';
import type { VNode } from 'preact';
import { type Hunk, LINE_CHARACTERS, plainTable, type ShownLine, shownHunks } from './diff-files.tsx';

/** Galley's own markup around diff2html's marks of changes within a line. `plainTable` has the same. */
const TEMPLATES = {
  'generic-wrapper': '{{{content}}}',
  'line-by-line-file-diff': '<table class="diff"><tbody>{{{diffs}}}</tbody></table>',
  'generic-block-header': '<tr class="hunk"><td></td><td></td><td>{{{blockHeader}}}</td></tr>',
  'line-by-line-numbers': '<td>{{oldNumber}}</td><td>{{newNumber}}</td>',
  'generic-line':
    '<tr class="{{type}}">{{{lineNumber}}}<td><span class="sign">{{{prefix}}}</span><code>{{{content}}}</code></td></tr>',
} as const;

/** Files of a page after this time have no marks, so that one costly file doesn't take them from all. */
const MARKING_MS = 1_000;

/** Tables with marks of what changed within lines, until the time for that is over. */
export function createMarkedTables(): (hunks: readonly Hunk[]) => VNode {
  const endsAt = performance.now() + MARKING_MS;
  return (hunks) => (performance.now() < endsAt ? markedTable(hunks) : plainTable(hunks));
}

/** The hunks are already parsed, so odd names and carriage returns never reach diff2html's parser. */
function markedTable(hunks: readonly Hunk[]): VNode {
  const shown = shownHunks(hunks);
  const blocks = hunks.map(({ oldStart, newStart }, index): DiffBlock => {
    const { header = '', lines = [] } = shown[index] ?? {};
    return { header, oldStartLine: oldStart, newStartLine: newStart, lines: lines.map(diffLine) };
  });
  const names = { oldName: 'file', newName: 'file', addedLines: 0, deletedLines: 0, language: '' };
  const html = renderDiff([{ ...names, isCombined: false, isGitDiff: true, blocks }], {
    outputFormat: 'line-by-line',
    drawFileList: false,
    matching: 'lines',
    matchingMaxComparisons: 400,
    maxLineLengthHighlight: LINE_CHARACTERS,
    rawTemplates: TEMPLATES,
  });
  return <div class="scroll" dangerouslySetInnerHTML={{ __html: html }} />;
}

function diffLine({ kind, text, oldNumber, newNumber }: ShownLine): DiffLine {
  const content = kind + text;
  if (newNumber === undefined) return { type: LineType.DELETE, content, oldNumber: oldNumber ?? 0, newNumber };
  if (oldNumber === undefined) return { type: LineType.INSERT, content, oldNumber, newNumber };
  return { type: LineType.CONTEXT, content, oldNumber, newNumber };
}
