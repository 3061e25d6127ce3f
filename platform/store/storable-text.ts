/** Text that PostgreSQL takes: what it can't hold (NUL, half of a character) stands as the replacement character. */
export function storableText(text: string): string {
  return Buffer.from(text).toString().replaceAll('\0', '\ufffd');
}

/** PostgreSQL takes no NUL in a text, not even to look for it. */
export function isStorable(text: string): boolean {
  return !text.includes('\0');
}
