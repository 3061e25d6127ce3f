/** Markup that is known to be whole: nothing in it is escaped again. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Value = string | number | Html | null | readonly Html[];

/** Markup with values put in as text. What is `Html` already, or a list of it, stands as it is; null is nothing. */
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

/** Also right between quotes of either kind. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}

/**
 * Controls and format characters that change how the text around them reads, such as those that turn the direction
 * (https://trojansource.codes). Joiners stay: scripts and emoji need them.
 */
const HIDDEN = /(?![\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text on which nothing is hidden: such a character stands as its number. Line breaks are meant where `multiline`. */
export function visibleText(text: string, { multiline = false }: { multiline?: boolean } = {}): string {
  return text.replaceAll(HIDDEN, (character) => {
    if (multiline && character === '\n') return character;
    return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
