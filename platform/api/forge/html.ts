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
