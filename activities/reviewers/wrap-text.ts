/** The width that plain mail has been read in for decades, and that leaves room for the ">" of answers. */
const WIDTH = 72;

/**
 * Breaks a line between words at 72 characters. A word that is longer, such as an address, stays whole: broken, it could
 * no longer be opened.
 * @param first what the first line begins with; `rest` begins the others, and is the same by default.
 */
export function wrapText(text: string, first = '', rest = first): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/u).filter(Boolean)) {
    const indent = lines.length === 0 ? first : rest;
    if (line !== '' && indent.length + line.length + 1 + word.length > WIDTH) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  lines.push((lines.length === 0 ? first : rest) + line);
  return lines.join('\n');
}
