/**
 * Titles, names and errors come from a CMS, a forge or a mail server: anyone may have written them. What is shown of one
 * is a single line of visible characters.
 */

const CHARACTERS = new Intl.Segmenter('en');

/**
 * One line of at most `maxCharacters` (as people count them). Line breaks and other control characters become a space;
 * what turns the reading direction around or can't be seen is dropped, so that a title can't pretend to be another.
 * Only joiners stay: emoji and several scripts are written with them.
 */
export function plainLine(text: string, maxCharacters: number): string {
  // What is far too long is cut first: counting characters as people do is slow.
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

/** Half of a surrogate pair can't be encoded; it becomes the sign for what can't be shown. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
