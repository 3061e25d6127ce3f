import type { VNode } from 'preact';
import { Text } from '../components/text.tsx';
import { visibleText } from '../visible-text.ts';

/** A line of a hunk. `kind` is its sign in the patch. */
export type Line = { kind: ' ' | '+' | '-'; text: string; endsWithoutNewline: boolean };

export type Hunk = { header: string; oldStart: number; newStart: number; lines: readonly Line[] };

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
export const LINE_CHARACTERS = 1_000;

/** The files with as many lines as a page may have. */
export function boundedFiles(files: readonly DiffFile[]): DiffFile[] {
  let room = LINES_PER_PAGE;
  return files.map((file) => {
    const lines = Math.min(room, LINES_PER_FILE);
    const hunks = file.patch === null || lines === 0 ? [] : bounded(file.patch.hunks, lines);
    room -= hunks.reduce((count, hunk) => count + hunk.lines.length, 0);
    return { ...file, patch: { hunks } };
  });
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

type DiffFilesProps = { files: readonly DiffFile[]; tableOf: (hunks: readonly Hunk[]) => VNode };

/** All files with their lines, and a note for everything omitted. */
export function DiffFiles({ files, tableOf }: DiffFilesProps) {
  return (
    <div>
      {files.map((file, index) => (
        <File key={file.path} id={`file-${index + 1}`} file={file} tableOf={tableOf} />
      ))}
    </div>
  );
}

function File({ id, file, tableOf }: { id: string; file: DiffFile; tableOf: DiffFilesProps['tableOf'] }) {
  const { path, previousPath, status, patch } = file;
  const hunks = patch?.hunks ?? [];
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
      {hunks.length > 0 && tableOf(hunks)}
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

/** A line of a table: its sign and text, cut and with hidden characters shown, and its numbers. */
export type ShownLine = {
  kind: Line['kind'];
  text: string;
  oldNumber: number | undefined;
  newNumber: number | undefined;
};

/** The lines of a file's hunks as they are shown. */
export function shownHunks(hunks: readonly Hunk[]): { header: string; lines: ShownLine[] }[] {
  // If every line ends so, it isn't worth showing.
  const ending = hunks.flatMap((hunk) => hunk.lines).every(({ text }) => text.endsWith('\r')) ? '\r' : '';
  return hunks.map(({ header, oldStart, newStart, lines }) => {
    let [oldNumber, newNumber] = [oldStart - 1, newStart - 1];
    const shown = lines.map((line): ShownLine => {
      const { kind } = line;
      const text = shownText(line, ending);
      if (kind === '+') return { kind, text, oldNumber: undefined, newNumber: ++newNumber };
      if (kind === '-') return { kind, text, oldNumber: ++oldNumber, newNumber: undefined };
      return { kind, text, oldNumber: ++oldNumber, newNumber: ++newNumber };
    });
    return { header: visibleText(header).slice(0, LINE_CHARACTERS), lines: shown };
  });
}

function shownText({ text, endsWithoutNewline }: Line, ending: string): string {
  const whole = ending !== '' && text.endsWith(ending) ? text.slice(0, -ending.length) : text;
  const shown = visibleText(whole.slice(0, LINE_CHARACTERS));
  const cut = whole.length > LINE_CHARACTERS ? ` … (${whole.length - LINE_CHARACTERS} more characters)` : '';
  return `${shown}${cut}${endsWithoutNewline ? ' ⟨no line break at the end⟩' : ''}`;
}

const CLASSES: Readonly<Record<Line['kind'], string | undefined>> = { '+': 'd2h-ins', '-': 'd2h-del', ' ': undefined };

/** Lines without marks of what changed within them. */
export function plainTable(hunks: readonly Hunk[]): VNode {
  return (
    <div class="scroll">
      <table class="diff">
        <tbody>
          {shownHunks(hunks).map(({ header, lines }) => (
            <>
              <tr class="hunk">
                <td />
                <td />
                <td>{header}</td>
              </tr>
              {lines.map(({ kind, text, oldNumber, newNumber }) => (
                <tr key={`${oldNumber} ${newNumber}`} class={CLASSES[kind]}>
                  <td>{oldNumber}</td>
                  <td>{newNumber}</td>
                  <td>
                    <span class="sign">{kind}</span>
                    <code>{text}</code>
                  </td>
                </tr>
              ))}
            </>
          ))}
        </tbody>
      </table>
    </div>
  );
}
