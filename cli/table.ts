import { wrapText } from '../contract/wrap-text.ts';
import { formatRelative } from '../ui/format.ts';
import { COLUMNS, plain } from './output.ts';

/** Columns by their headers, and what a row has in each. The one named '' is for sentences: they stand below the row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number | null | undefined>>;

const GAP = '  ';
const EMPTY = '-';
/** Shorter texts, such as `5 min ago`, stay on one line. */
const WHOLE = 12;

/** Prints rows under headers, as wide as the terminal; `none` if there are none. */
export function printTable<Row>(rows: readonly Row[], columns: Columns<Row>, none: string): void {
  const lines = rows.length === 0 ? [none] : tableLines(rows, columns, process.stdout.columns ?? COLUMNS);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/**
 * The lines of a table; an empty cell keeps its column. Cells wrap between words, never inside one. If the longest words
 * don't fit side by side, each row is a block with one line per cell.
 */
export function tableLines<Row>(rows: readonly Row[], columns: Columns<Row>, width: number): string[] {
  const { '': sentence = () => '', ...shown } = columns;
  const textOf = (cell: (row: Row) => unknown, row: Row): string => plain(String(cell(row) ?? '')).trim();
  const filled = rows.map((row) => Object.values(shown).map((cell) => textOf(cell, row)));
  // A column that no row fills says nothing.
  const used = Object.keys(shown).flatMap((_, index) => (filled.some((row) => row[index] !== '') ? [index] : []));
  const headers = used.map((index) => Object.keys(shown)[index] ?? '');
  const cells = filled.map((row) => used.map((index) => row[index] || EMPTY));
  const widths = fittingWidths([headers, ...cells], width);
  const below = (row: Row): string[] => {
    const text = textOf(sentence, row);
    return text === '' ? [] : wrapText(text, width, GAP).split('\n');
  };
  const lines = rows.flatMap((row, index) => {
    const texts = cells[index] ?? [];
    if (widths !== undefined) return [...rowLines(texts, widths), ...below(row)];
    return [...(index === 0 ? [] : ['']), ...block(headers, texts, width), ...below(row)];
  });
  return widths === undefined ? lines : [...rowLines(headers, widths), ...lines];
}

/** The width of each column, or undefined if the longest words are too wide. The widest columns give way. */
function fittingWidths(cells: readonly (readonly string[])[], width: number): number[] | undefined {
  const columns = (cells[0] ?? []).map((_, index) => cells.map((row) => row[index] ?? ''));
  const wordsOf = (text: string): string[] => (text.length <= WHOLE ? [text] : text.split(/\s+/));
  const least = columns.map((column) => Math.max(...column.flatMap(wordsOf).map(({ length }) => length)));
  const widths = columns.map((column) => Math.max(...column.map(({ length }) => length)));
  const room = width - GAP.length * (columns.length - 1);
  for (let over = sum(widths) - room; over > 0; over--) {
    const spare = widths.map((each, index) => (each > (least[index] ?? 0) ? each : 0));
    const widest = Math.max(...spare);
    if (widest === 0) return undefined;
    widths[spare.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function rowLines(row: readonly string[], widths: readonly number[]): string[] {
  const wrapped = row.map((text, index) => wrapText(text, widths[index] ?? 0).split('\n'));
  const height = Math.max(...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    wrapped
      .map((lines, index) => (lines[line] ?? '').padEnd(widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function block(headers: readonly string[], row: readonly string[], width: number): string[] {
  const label = Math.max(...headers.map(({ length }) => length)) + GAP.length;
  return row.flatMap((text, index) => {
    const first = (headers[index] ?? '').padEnd(label);
    return wrapText(text, width, first, ' '.repeat(label)).split('\n');
  });
}

/** Such as `5 min ago`; a text that isn't a time stays as it is. */
export function ago(at: string | null | undefined, now = new Date()): string {
  const date = new Date(at ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? (at ?? '') : formatRelative(date, now);
}

/** `2026-11-21 10:04:09`. Swedes write a time as RFC 3339 does. */
export function localTime(at: string): string {
  return new Date(at).toLocaleString('sv-SE');
}
