import { plainLine } from './plain-line.ts';

/** The end of an error message usually holds the reason. */
const MAX_LINES = 30;
const MAX_LINE_CHARACTERS = 300;

/** A service's error message as lines for a mail; at least one. */
export function errorLines(message: string): string[] {
  const lines = message.split(/\r\n|[\r\n\u2028\u2029]/).map((line) => plainLine(line, MAX_LINE_CHARACTERS));
  const reasons = lines.filter((line) => line !== '').slice(-MAX_LINES);
  return reasons.length === 0 ? ['The service gave no reason.'] : reasons;
}
