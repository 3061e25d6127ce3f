import { Lexer } from 'yaml';

/** More levels than any configuration has. The YAML library needs minutes for thousands of them, or ends the process. */
const MAX_LEVELS = 100;

/** The indicators that open a level each at the beginning of a line: `- - key`, `? ? key`. */
const OPENERS = /^[ \t]*((?:[-?:][ \t]+)*)/;

/** Whether a YAML text nests deeper than 100 levels: on one line, by indentation or in brackets. Call it before parsing. */
export function nestsTooDeep(text: string): boolean {
  const lines = text.split('\n');
  return lines.some(opensTooMany) || indentsTooDeep(lines) || bracketsNestTooDeep(text);
}

/** Lines of a block text count too, but no text has a hundred lines of which each is indented further. */
function indentsTooDeep(lines: readonly string[]): boolean {
  const open: number[] = [];
  for (const line of lines) {
    const indent = line.search(/[^ \r]/);
    if (indent < 0) continue;
    while ((open.at(-1) ?? -1) >= indent) open.pop();
    open.push(indent);
    if (open.length > MAX_LEVELS) return true;
  }
  return false;
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
