/**
 * Wraps a text after at most `width` characters. A longer word, such as a URL, stays whole so that it can be opened or
 * copied.
 * @param first prefix of the first line; `rest` is that of the others, and defaults to `first`.
 */
export function wrapText(text: string, width: number, first = '', rest = first): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/u).filter(Boolean)) {
    const indent = lines.length === 0 ? first : rest;
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  lines.push((lines.length === 0 ? first : rest) + line);
  return lines.join('\n');
}
