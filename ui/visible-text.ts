/**
 * Control and format characters that change how the text around them reads, such as direction overrides
 * (https://trojansource.codes). Joiners stay, because scripts and emoji need them.
 */
const HIDDEN = /(?![\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text with hidden characters shown by their code. Line breaks are kept if `multiline`. */
export function visibleText(text: string, { multiline = false }: { multiline?: boolean } = {}): string {
  return text.replaceAll(HIDDEN, (character) => {
    if (multiline && character === '\n') return character;
    return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
