/**
 * Titles, names and errors come from a CMS, a forge or a mail server, so anyone may have written them. They are shown
 * as a single line of visible characters.
 */

const CHARACTERS = new Intl.Segmenter('en');

/**
 * One line of at most `maxCharacters` graphemes. Line breaks and other control characters become a space. Characters
 * that are invisible or change the reading direction are dropped, so that a title can't imitate another; joiners stay,
 * because emoji and several scripts need them.
 */
export function plainLine(text: string, maxCharacters: number): string {
  // Cut very long text first: counting graphemes is slow.
  const line = wellFormed(text.slice(0, maxCharacters * 12))
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/(?![\u200c\u200d])[\p{Cf}\p{Co}\p{Cn}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
  const characters: string[] = [];
  for (const { segment } of CHARACTERS.segment(line)) {
    if (characters.push(segment) > maxCharacters)
      return `${characters
        .slice(0, maxCharacters - 1)
        .join('')
        .trimEnd()}…`;
  }
  return line;
}

/** Replaces half of a surrogate pair, which can't be encoded, with U+FFFD. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
