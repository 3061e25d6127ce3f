/** How commands print. */

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints the lines that are given; false ones are left out. */
export function printLines(lines: readonly (string | false | null | undefined)[]): void {
  process.stdout.write(lines.map((line) => (line ? `${line}\n` : '')).join(''));
}

/** Prints rows as columns separated by tabs; empty cells are left out. */
export function printRows(rows: readonly (readonly (string | false | null | undefined)[])[]): void {
  printLines(rows.map((row) => row.filter(Boolean).join('\t')));
}

/** A text that someone else chose, without terminal sequences. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}
