import { html as renderDiff } from 'diff2html';
import { type DiffBlock, type DiffLine, LineType } from 'diff2html/lib/types.js';
import { visibleText } from '../visible-text.ts';
import { Text } from './text.tsx';

/** A line of a hunk. `kind` is its sign in the patch. */
type Line = { kind: ' ' | '+' | '-'; text: string; endsWithoutNewline: boolean };

type Hunk = { header: string; oldStart: number; newStart: number; lines: readonly Line[] };

/** A file of a diff. Counts are lines. */
export type DiffFile = {
  path: string;
  /** The old path; null if it wasn't moved or copied. */
  previousPath: string | null;
  status: string;
  /** Null for a binary file. */
  additions: number | null;
  deletions: number | null;
  oldMode: string;
  newMode: string;
  /** Null if it is too long. */
  patch: { hunks: readonly Hunk[] } | null;
};

/** Limits of a page: more isn't readable and slows phones down. */
const LINES_PER_FILE = 1_000;
const LINES_PER_PAGE = 4_000;
const LINE_CHARACTERS = 1_000;

/** Galley's own markup around diff2html's marks of changes within a line. */
const TEMPLATES = {
  'generic-wrapper': '{{{content}}}',
  'line-by-line-file-diff': '<table class="diff"><tbody>{{{diffs}}}</tbody></table>',
  'generic-block-header': '<tr class="hunk"><td></td><td></td><td>{{{blockHeader}}}</td></tr>',
  'line-by-line-numbers': '<td>{{oldNumber}}</td><td>{{newNumber}}</td>',
  'generic-line':
    '<tr class="{{type}}">{{{lineNumber}}}<td><span class="sign">{{{prefix}}}</span><code>{{{content}}}</code></td></tr>',
} as const;

/** All files with their lines up to the limits, and a note for everything omitted. */
export function Diff({ files }: { files: readonly DiffFile[] }) {
  let room = LINES_PER_PAGE;
  const shown = files.map((file) => {
    const lines = Math.min(room, LINES_PER_FILE);
    const hunks = file.patch === null || lines === 0 ? [] : bounded(file.patch.hunks, lines);
    room -= hunks.reduce((count, hunk) => count + hunk.lines.length, 0);
    return { file, hunks };
  });
  return (
    <div>
      {shown.map(({ file, hunks }, index) => (
        <File key={file.path} id={`file-${index + 1}`} file={file} hunks={hunks} />
      ))}
    </div>
  );
}

function File({ id, file, hunks }: { id: string; file: DiffFile; hunks: readonly Hunk[] }) {
  const { path, previousPath, status } = file;
  const note = noteOf(file, hunks);
  return (
    <details class="file" id={id} open>
      <summary>
        <Counts file={file} />{' '}
        <span class="mono">
          {previousPath !== null && (
            <>
              <Text>{previousPath}</Text> →{' '}
            </>
          )}
          <Text>{path}</Text>
        </span>{' '}
        {status !== 'modified' && <span class="tag">{status}</span>}
      </summary>
      {hunks.length > 0 && <div class="scroll" dangerouslySetInnerHTML={{ __html: tableOf(hunks) }} />}
      {note !== null && <p class="note">{note}</p>}
    </details>
  );
}

function Counts({ file: { additions, deletions } }: { file: DiffFile }) {
  if (additions === null || deletions === null) return <span class="counts">binary</span>;
  return (
    <span class="counts">
      <span class="added">+{additions}</span> <span class="gone">−{deletions}</span>
    </span>
  );
}

function noteOf(file: DiffFile, hunks: readonly Hunk[]): string | null {
  if (file.additions === null) return 'Binary file: its content is not shown.';
  const changed = hunks.flatMap((hunk) => hunk.lines).filter(({ kind }) => kind !== ' ').length;
  if (changed < file.additions + (file.deletions ?? 0)) {
    return changed === 0
      ? 'Not shown, because the whole is too long for a page.'
      : 'Cut here: the rest of this file is not shown, because it is too long for a page.';
  }
  if (changed > 0) return null;
  return file.oldMode === file.newMode || file.status === 'added'
    ? 'No line changed.'
    : `Only the file's mode changed: ${file.oldMode} → ${file.newMode}.`;
}

/** The first lines, up to a limit. */
function bounded(hunks: readonly Hunk[], limit: number): Hunk[] {
  let left = limit;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, left);
    left -= lines.length;
    return lines.length === 0 ? [] : [{ ...hunk, lines }];
  });
}

/** The hunks are already parsed, so odd names and carriage returns never reach diff2html's parser. */
function tableOf(hunks: readonly Hunk[]): string {
  // If every line ends so, it isn't worth showing.
  const ending = hunks.flatMap((hunk) => hunk.lines).every(({ text }) => text.endsWith('\r')) ? '\r' : '';
  const names = { oldName: 'file', newName: 'file', addedLines: 0, deletedLines: 0, language: '' };
  const blocks = hunks.map((hunk) => blockOf(hunk, ending));
  return renderDiff([{ ...names, isCombined: false, isGitDiff: true, blocks }], {
    outputFormat: 'line-by-line',
    drawFileList: false,
    matching: 'lines',
    matchingMaxComparisons: 400,
    maxLineLengthHighlight: LINE_CHARACTERS,
    rawTemplates: TEMPLATES,
  });
}

function blockOf({ header, oldStart, newStart, lines }: Hunk, ending: string): DiffBlock {
  let [oldNumber, newNumber] = [oldStart - 1, newStart - 1];
  return {
    header: visibleText(header).slice(0, LINE_CHARACTERS),
    oldStartLine: oldStart,
    newStartLine: newStart,
    lines: lines.map((line): DiffLine => {
      const content = line.kind + contentOf(line, ending);
      if (line.kind === '+') return { type: LineType.INSERT, content, oldNumber: undefined, newNumber: ++newNumber };
      if (line.kind === '-') return { type: LineType.DELETE, content, oldNumber: ++oldNumber, newNumber: undefined };
      return { type: LineType.CONTEXT, content, oldNumber: ++oldNumber, newNumber: ++newNumber };
    }),
  };
}

function contentOf({ text, endsWithoutNewline }: Line, ending: string): string {
  const whole = ending !== '' && text.endsWith(ending) ? text.slice(0, -ending.length) : text;
  const shown = visibleText(whole.slice(0, LINE_CHARACTERS));
  const cut = whole.length > LINE_CHARACTERS ? ` … (${whole.length - LINE_CHARACTERS} more characters)` : '';
  return `${shown}${cut}${endsWithoutNewline ? ' ⟨no line break at the end⟩' : ''}`;
}
