import type { Collector } from '../collector.ts';
import { rawOffset, type SpannedText } from '../spanned-text.ts';

const NAME = 'sourceMappingURL=';
const OPENING = /\/[/*][#@]\s+$/;
const URL_TEXT = /[^\s'"`*]+/y;
const CLOSING = /[ \t]*\*\//y;
/** Only comments may follow. If code follows, the match could be part of a string. */
const REST = /^(?:\s|\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*$/;
const MAX_REST = 4096;

/**
 * The comment at the end of a script or stylesheet that links its source map. Only developer tools load the map, and
 * an inline one (`data:`) can be most of the file.
 */
export function extractSourceMap(code: SpannedText, layers: string, collector: Collector): void {
  const { text } = code;
  const at = text.lastIndexOf(NAME);
  if (at < 0) return;
  const [opening] = OPENING.exec(text.slice(Math.max(0, at - 16), at)) ?? [];
  const from = at + NAME.length;
  const to = from + matchLength(URL_TEXT, text, from);
  if (opening === undefined || to === from) return;
  const closing = opening.startsWith('/*') ? matchLength(CLOSING, text, to) : 0;
  if (opening.startsWith('/*') && closing === 0) return;
  const end = to + closing;
  if (text.length - end > MAX_REST || !REST.test(text.slice(end))) return;

  collector.mark(rawOffset(code, at - opening.length), rawOffset(code, end), 'source-map');
  collector.refer({ span: code, from, to, layers }, 'source-map');
}

function matchLength(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0].length ?? 0;
}
