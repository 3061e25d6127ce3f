/**
 * The beginning of a text: at most `maxLength` UTF-16 units, and never half of a character at its end, which neither a
 * database nor another program could keep as it is. A text that isn't longer stays what it is.
 */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');
}
