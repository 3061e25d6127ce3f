/**
 * The first `maxLength` UTF-16 units of a text, without a lone surrogate at the end, which databases and other programs
 * can't store. Shorter texts are unchanged.
 */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');
}
