/** Text that PostgreSQL takes: what it can't hold (NUL, half of a character) stands as the replacement character. */
export function storableText(text: string): string {
  return Buffer.from(text).toString().replaceAll('\0', '\ufffd');
}
