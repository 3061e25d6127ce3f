/** Safe markup that isn't escaped again. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Value = string | number | Html | null | readonly Html[];

/** A template tag that escapes values. `Html` and lists of it are inserted unchanged; null is empty. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  const text = parts.map((part, index) => part + (index < values.length ? toMarkup(values[index] ?? null) : ''));
  return new Html(text.join(''));
}

function toMarkup(value: Value): string {
  if (value === null) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(({ markup }) => markup).join('\n');
  return escapeHtml(String(value));
}

/** Also safe within quotes of either kind. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}

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
