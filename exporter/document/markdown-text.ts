/** The text of Markdown's parts (CommonMark with tables). */

/** The mark around an element's text. */
export const WRAPS: Readonly<Record<string, string>> = { b: '**', strong: '**', em: '*', i: '*', del: '~~', s: '~~' };
const PERMALINK = /^[¶#§🔗\u200B\s]*$/u;

export type Block = { text: string; isList?: boolean };
/** Text whose end decides what becomes of it. */
export type Inline = { tag: string; text: string; href?: string | undefined };
/** Rows of cells of blocks. */
export type Table = { rows: Block[][][]; hasHead: boolean };

/** `isTight`: a list follows the text of its item without a gap, unless Markdown wouldn't read it as one there. */
export function joined(blocks: readonly Block[], isTight = false): string {
  const gap = ({ text, isList }: Block): string => (isTight && isList && /^(?:-|1\.) /.test(text) ? '\n' : '\n\n');
  return blocks.map((block, index) => (index === 0 ? '' : gap(block)) + block.text).join('');
}

export function wrapped(inline: Inline): string {
  if (inline.tag === 'a') return link(inline);
  const mark = WRAPS[inline.tag];
  if (mark === undefined) return codeSpan(inline.text);
  const content = inline.text.trim();
  if (content === '') return inline.text;
  return inline.text.replace(content, () => mark + content + mark);
}

function link({ text, href = '' }: Inline): string {
  const name = text.replace(/\s+/g, ' ');
  if (href.startsWith('#') && PERMALINK.test(name.replaceAll('\\', ''))) return '';
  if (name.trim() === '' || /^\s*javascript:/i.test(href)) return name;
  const space = (end: RegExp): string => (end.test(name) ? ' ' : '');
  return `${space(/^ /)}[${name.trim()}](${destination(href)})${space(/ $/)}`;
}

export function image({ src, alt = '' }: Record<string, string | undefined>): string {
  if (src === undefined || src === '' || /^data:/i.test(src)) return escapeText(alt);
  return `![${escapeText(alt.replace(/\s+/g, ' ').trim())}](${destination(src)})`;
}

function destination(url: string): string {
  const safe = url.trim().replace(/[\s<>\\|]/g, encodeURIComponent);
  return /[()]/.test(safe) ? `<${safe}>` : safe;
}

function codeSpan(text: string): string {
  const content = text.replace(/[ \t\r\n\f]+/g, ' ');
  if (content.trim() === '') return content;
  const mark = '`'.repeat(longestRun(content) + 1);
  const space = /^`|`$|^ .* $/.test(content) ? ' ' : '';
  return mark + space + content + space + mark;
}

export function fenced({ text, language }: { text: string; language: string }): string {
  const mark = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${mark}${language}\n${text.replace(/\r\n?/g, '\n').replace(/^\n/, '').trimEnd()}\n${mark}`;
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

export function tableText({ rows, hasHead }: Table): string {
  const cells = rows.map((row) =>
    row.map((blocks) =>
      blocks
        .map(({ text }) => text)
        .join('<br>')
        .replace(/\\?\n/g, ' ')
        .replace(/\|/g, '\\|'),
    ),
  );
  const width = cells.reduce((most, { length }) => Math.max(most, length), 1);
  const [head = [], ...body] = hasHead ? cells : [[], ...cells];
  const line = (row: readonly string[]): string =>
    `| ${Array.from({ length: width }, (_, at) => row[at] ?? '').join(' | ')} |`;
  return [line(head), line(Array.from({ length: width }, () => '---')), ...body.map(line)].join('\n');
}

/** Only what Markdown would read as something else. */
export function escapeText(text: string): string {
  return text.replace(/[\\`*[\]<&]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&').replace(/~~/g, '\\~~');
}

/** What begins a heading, a list, a quote or a rule at the start of a line. */
export function escapeStarts(text: string): string {
  return text
    .replace(/^(?=#{1,6}(?: |$)|[+-](?: |$)|>|={3,}|-{3,}|~{3,})/gm, '\\')
    .replace(/^(\d{1,9})(?=[.)](?: |$))/gm, '$1\\');
}
