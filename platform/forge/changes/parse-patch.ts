/** A line of a hunk. `kind` is its sign in the patch. */
export type PatchLine = { kind: ' ' | '+' | '-'; text: string; endsWithoutNewline: boolean };

type Hunk = { header: string; oldStart: number; newStart: number; lines: PatchLine[] };

/** A file's hunks; empty if it is binary or only its mode or name changed. */
export type FilePatch = { hunks: Hunk[] };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Parses git's patch text, files in git's order. Exactly as many lines as the hunk's header says belong to the hunk, so
 * a line that looks like a header or contains a carriage return can't hide anything. Truncated text ends with the last
 * whole line.
 */
export function parsePatch(text: string): FilePatch[] {
  // After the last line break comes nothing or a partial line.
  const lines = text.split('\n').slice(0, -1);
  const files: FilePatch[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const file = files.at(-1);
    if (line.startsWith('diff --git ')) files.push({ hunks: [] });
    const head = HUNK.exec(line);
    if (head === null || file === undefined) continue;
    const hunk: Hunk = { header: line, oldStart: Number(head[1]), newStart: Number(head[3]), lines: [] };
    file.hunks.push(hunk);
    at = readHunk(lines, at, hunk, { old: Number(head[2] ?? 1), new: Number(head[4] ?? 1) });
  }
  return files;
}

/** Returns the index of the hunk's last line. */
function readHunk(lines: readonly string[], start: number, hunk: Hunk, left: { old: number; new: number }): number {
  let at = start;
  while (at + 1 < lines.length) {
    const line = lines[at + 1] ?? '';
    const last = hunk.lines.at(-1);
    if (line.startsWith('\\')) {
      if (last !== undefined) last.endsWithoutNewline = true;
    } else {
      if (left.old <= 0 && left.new <= 0) break;
      const kind = kindOf(line);
      hunk.lines.push({ kind, text: line.slice(1), endsWithoutNewline: false });
      if (kind !== '+') left.old -= 1;
      if (kind !== '-') left.new -= 1;
    }
    at += 1;
  }
  return at;
}

/** Git writes an empty context line as a space. */
function kindOf(line: string): PatchLine['kind'] {
  const sign = line.charAt(0);
  return sign === '+' || sign === '-' ? sign : ' ';
}
