const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const CODE_SPAN = /(?<!`)(`+)(?!`)(?:[^`]|(?!(?<!`)\1(?!`))`)*?(?<!`)\1(?!`)/g;
/** The URL of an inline link, an autolink, a link definition, and HTML in the text. */
const LINKS = [
  /\]\(\s{0,10}<?([^\s<>()]{1,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,2000})?)/g,
  /<(https?:\/\/[^\s<>]{1,2000})>/gi,
  /^ {0,3}\[[^\]\r\n]{1,500}\]:[ \t]{0,10}<?([^\s<>]{1,2000})/gm,
  /\b(?:href|src)=["']([^"'\s<>]{1,2000})["']/gi,
] as const;

/** The URLs of the links in Markdown, as character positions, in no meaningful order. Code has none. */
export function markdownLinks(text: string): { from: number; to: number }[] {
  const prose = withoutCode(text);
  return LINKS.flatMap((pattern) =>
    [...prose.matchAll(pattern)].map(({ 0: whole, 1: url = '', index }) => {
      const from = index + whole.lastIndexOf(url);
      return { from, to: from + url.length };
    }),
  );
}

/** The text with spaces in place of its code, so that positions stay. */
function withoutCode(text: string): string {
  let fence = '';
  const lines = text.split('\n').map((line) => {
    const [, mark = ''] = FENCE.exec(line) ?? [];
    const isInside = fence !== '';
    if (!isInside) fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = '';
    return isInside || mark !== '' ? ' '.repeat(line.length) : line;
  });
  return lines.join('\n').replace(CODE_SPAN, (code) => ' '.repeat(code.length));
}
