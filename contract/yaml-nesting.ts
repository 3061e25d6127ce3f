/** More levels than any configuration has. The YAML library needs minutes for thousands of them, or ends the process. */
const MAX_LEVELS = 100;

/** The indicators that open a level each at the begin of a line: `- - key`, `? ? key`. */
const OPENERS = /^[ \t]*((?:[-?:][ \t]+)*)/;

/**
 * Whether a YAML text may nest deeper than 100 levels. Call it before the text is parsed. It counts brackets in quoted
 * text and comments too, so it errs on the side of "too deep". Levels by indentation alone are left to the parser.
 */
export function nestsTooDeep(text: string): boolean {
  let brackets = 0;
  for (const line of text.split('\n')) {
    const openers = OPENERS.exec(line)?.[1]?.replace(/[ \t]/g, '').length ?? 0;
    if (openers > MAX_LEVELS) return true;
    for (const character of line) {
      if (character === '[' || character === '{') brackets++;
      else if ((character === ']' || character === '}') && brackets > 0) brackets--;
      if (brackets > MAX_LEVELS) return true;
    }
  }
  return false;
}
