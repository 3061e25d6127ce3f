import { styleText } from 'node:util';
import { wrapText } from '../contract/wrap-text.ts';

/** How commands print. */

let document: unknown;

/** Prints the command's one JSON document, once it has ended: a failure adds `error` to it. */
export function printJson(value: unknown): void {
  document = value;
}

/** Writes what `printJson` was given. With an error, the document is an object that has it. */
export function writeDocument(error?: string): void {
  const isObject = typeof document === 'object' && document !== null && !Array.isArray(document);
  const value = error === undefined ? document : { ...(isObject ? Object(document) : {}), error };
  document = undefined;
  if (value !== undefined) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints the lines that are given; false ones are left out. */
export function printLines(lines: readonly (string | false | null | undefined)[]): void {
  process.stdout.write(lines.map((line) => (line ? `${line}\n` : '')).join(''));
}

/** A text that someone else chose, without terminal sequences. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}

/** The text in color if standard output is a terminal with colors and NO_COLOR isn't set. */
export function paint(color: 'green' | 'yellow' | 'red' | 'bold', text: string): string {
  return process.stdout.isTTY && process.stdout.hasColors() ? styleText(color, text) : text;
}

/** The width of what commands print. */
export const COLUMNS = 80;

/** Wraps a text at 80 columns, each line with the indent. */
export function wrap(text: string, indent = ''): string {
  return wrapText(text, COLUMNS, indent);
}

/** Wraps the lines that are too long, each with its own indent. */
export function wrapLines(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const indent = /^ */.exec(line)?.[0] ?? '';
      return line.length > COLUMNS ? wrap(line.trim(), indent) : line;
    })
    .join('\n');
}
