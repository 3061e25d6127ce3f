import { Lexer } from 'yaml';

/** More levels than any configuration has. The YAML library needs minutes for thousands of them, or ends the process. */
const MAX_LEVELS = 100;

/** The indicators that open a level each at the beginning of a line: `- - key`, `? ? key`. */
const OPENERS = /^[ \t]*((?:[-?:][ \t]+)*)/;

/**
 * Whether a YAML text nests deeper than 100 levels on one line or in brackets. Call it before the text is parsed. Levels
 * by indentation alone are left to the parser.
 */
export function nestsTooDeep(text: string): boolean {
  return text.split('\n').some(opensTooMany) || bracketsNestTooDeep(text);
}

function opensTooMany(line: string): boolean {
  const openers = OPENERS.exec(line)?.[1] ?? '';
  return openers.replace(/[ \t]/g, '').length > MAX_LEVELS;
}

/** Only the lexer knows which brackets are in quotes or comments. */
function bracketsNestTooDeep(text: string): boolean {
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth--;
    if (depth > MAX_LEVELS) return true;
  }
  return false;
}
