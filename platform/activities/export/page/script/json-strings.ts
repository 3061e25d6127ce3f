/**
 * A JSON string value with the key it stands under (empty in arrays), as character positions between its quotes; with
 * `isKey` it is a key itself.
 */
export type JsonString = { key: string; keys: readonly string[]; from: number; to: number; isKey: boolean };

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs;

/**
 * The string values of a JSON text with the keys that lead to them, outermost first. Tolerant: it reads tokens and
 * never throws. Depth is bounded so that hostile nesting costs nothing. With `withKeys` keys are listed too.
 */
export function jsonStrings(text: string, { withKeys = false } = {}): JsonString[] {
  const strings: JsonString[] = [];
  const keys: string[] = [];
  let key = '';
  let lastString: { from: number; to: number } | undefined;

  const flush = (): void => {
    if (lastString !== undefined) strings.push({ key, keys: [...keys], ...lastString, isKey: false });
    lastString = undefined;
  };
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    switch (token) {
      case '{':
      case '[':
        if (keys.length >= 64) return strings;
        keys.push(key);
        if (token === '{') key = '';
        break;
      case '}':
      case ']':
        flush();
        key = keys.pop() ?? '';
        break;
      case ',':
        flush();
        break;
      case ':':
        key = lastString === undefined ? key : text.slice(lastString.from, lastString.to);
        if (withKeys && lastString !== undefined) strings.push({ key, keys: [...keys], ...lastString, isKey: true });
        lastString = undefined;
        break;
      default:
        lastString = { from: index + 1, to: index + token.length - 1 };
    }
  }
  flush();
  return strings;
}

/** What a JSON string spells where that differs from how it is written. */
export function decodedJson(written: string): string | undefined {
  if (!written.includes('\\')) return undefined;
  try {
    const decoded: unknown = JSON.parse(`"${written}"`);
    return typeof decoded === 'string' ? Buffer.from(decoded, 'utf8').toString('latin1') : undefined;
  } catch {
    return undefined;
  }
}
