/** Replaces what PostgreSQL can't store (NUL, lone surrogates) with the replacement character. */
export function storableText(text: string): string {
  return Buffer.from(text).toString().replaceAll('\0', '\ufffd');
}

/** PostgreSQL takes no NUL in a text, not even to search for it. */
export function isStorable(text: string): boolean {
  return !text.includes('\0');
}
