import { isAlias, isScalar, type Pair, parse, type Scalar } from 'yaml';

/** Replaces the characters `from` to `to` (offsets, `to` excluded) with `text`. */
export type TextEdit = { from: number; to: number; text: string };

/** Applies splices that don't overlap. */
export function spliceAll(text: string, splices: readonly TextEdit[]): string {
  return [...splices]
    .sort((a, b) => b.from - a.from)
    .reduce((result, { from, to, text: inserted }) => result.slice(0, from) + inserted + result.slice(to), text);
}

/** Splices that give a pair of `text` another value in its own quoting; none if it has that value already. */
export function replacementFor(text: string, pair: Pair, value: true | string, inFlow: boolean): TextEdit[] {
  const node = pair.value;
  if (isAlias(node)) return [{ from: node.range?.[0] ?? 0, to: node.range?.[1] ?? 0, text: JSON.stringify(value) }];
  if (node === null) {
    const at = endOfKey(pair);
    return [{ from: at, to: at, text: ` ${JSON.stringify(value)}` }];
  }
  if (!isScalar(node) || !node.range) return [];
  if (node.value === value) return [];
  const [from, to] = node.range;
  if (from === to) {
    const at = endOfKey(pair);
    return [{ from: at, to: at, text: ` ${JSON.stringify(value)}` }];
  }
  if (node.type === 'BLOCK_FOLDED' || node.type === 'BLOCK_LITERAL') {
    // The value includes the line breaks after it, which the file's last line may lack.
    const lineBreaks = /(?:\r?\n)*$/.exec(text.slice(from, to))?.[0] ?? '';
    return [{ from, to, text: JSON.stringify(value) + lineBreaks }];
  }
  return [{ from, to, text: value === true ? 'true' : quoteLike(node, value, inFlow) }];
}

function quoteLike({ type: style, value: old }: Scalar, value: string, inFlow: boolean): string {
  // The old value wasn't a string, so there is no quoting to keep.
  if (typeof old !== 'string') return JSON.stringify(value);
  if (style === 'QUOTE_SINGLE' && !/[\r\n\t]/.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return style === 'PLAIN' && isPlain(value, inFlow) ? value : JSON.stringify(value);
}

function isPlain(value: string, inFlow: boolean): boolean {
  if (/[\r\n\t]|^\s|\s$/.test(value) || (inFlow && /[,[\]{}]/.test(value))) return false;
  try {
    const read: unknown = parse(`key: ${value}`);
    return typeof read === 'object' && read !== null && Reflect.get(read, 'key') === value;
  } catch {
    return false;
  }
}

/** Offset after a key's colon and its value's anchor or tag. */
export function endOfKey(pair: Pair): number {
  const marks = ['map-value-ind', 'anchor', 'tag'];
  const last = pair.srcToken?.sep?.findLast((token) => marks.includes(token.type));
  if (last !== undefined) return last.offset + last.source.length;
  return isScalar(pair.key) ? (pair.key.range?.[1] ?? 0) : 0;
}

/** Says where `offset` is, for messages; both numbers begin at 1. */
export function placeOf(text: string, offset: number): string {
  const before = text
    .slice(0, offset)
    .replace(/^\ufeff/, '')
    .split('\n');
  return `at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** Offset of the line break (or the text's end) at or behind `from`. */
export function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  if (at === -1) return text.length;
  return text[at - 1] === '\r' ? at - 1 : at;
}

/** The indentation of the line at `offset`, as spaces. */
export function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const bom = text[lineStart] === '\ufeff' ? 1 : 0;
  return ' '.repeat(offset - lineStart - bom);
}
