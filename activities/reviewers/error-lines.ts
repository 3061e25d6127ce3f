import { plainLine } from './plain-line.ts';

/** The end of what a service said is where its reason stands. */
const MAX_LINES = 30;
const MAX_LINE_CHARACTERS = 300;

/** What a service gave as its reason, as lines that a mail can show; at least one. */
export function errorLines(message: string): string[] {
  const lines = message.split(/\r\n|[\r\n\u2028\u2029]/).map((line) => plainLine(line, MAX_LINE_CHARACTERS));
  const told = lines.filter((line) => line !== '').slice(-MAX_LINES);
  return told.length === 0 ? ['The service gave no reason.'] : told;
}
