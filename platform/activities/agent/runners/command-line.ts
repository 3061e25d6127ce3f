import { ConfigurationError } from '../../../../contract/configuration-error.ts';

/** Shell operators. Unquoted they are rejected, because they would be passed to the agent as words. */
const OPERATORS = '|&;<>()`$';

/**
 * Splits a command line into words like a shell: blanks separate words, quotes and backslashes keep them together.
 * Nothing is expanded.
 * @throws ConfigurationError for an open quote, an unquoted operator, or no word at all.
 */
export function splitCommandLine(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if (quote === "'") {
      if (char === "'") quote = null;
      else word += char;
    } else if (char === '\\' && (quote === null || ['"', '\\', '$', '`'].includes(next))) {
      if (next === '') throw new ConfigurationError(['AGENT_COMMAND: expected a character after the last backslash']);
      word = (word ?? '') + next;
      at++;
    } else if (char === quote) {
      quote = null;
    } else if (quote === null && (char === '"' || char === "'")) {
      word ??= '';
      quote = char;
    } else if (quote === null && /\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (quote === null ? OPERATORS.includes(char) : char === '$' || char === '`') {
      throw new ConfigurationError([
        `AGENT_COMMAND: no shell runs it, so ${char} must stand in single quotes; for what a shell does: sh -c '…'`,
      ]);
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== null) throw new ConfigurationError([`AGENT_COMMAND: expected a closing ${quote}`]);
  if (word !== null) words.push(word);
  if (words.length === 0) throw new ConfigurationError(['AGENT_COMMAND: expected a command line']);
  return words;
}
