import { createHash } from 'node:crypto';

const MAX_NAME_BYTES = 200;
/** Characters that some file system or archive tool rejects or misreads. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not stand in a file name
const UNSAFE = /[\x00-\x1f\x7f"*/:<>?\\|]/g;
/** Most names need no escaping. */
const PLAIN = /^[\w.-]*[\w-]$/;
/** Reserved device names on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** Makes a URL segment a valid name on every file system: readable, percent-escaped, and at most 200 bytes. */
export function safeSegment(segment: string): string {
  const name = PLAIN.test(segment) ? segment : escaped(segment);
  return shortened(DEVICE.test(name) ? `_${name}` : name);
}

function escaped(segment: string): string {
  return segment
    .replace(UNSAFE, percentEncode)
    .replace(/^\.{1,2}$/, (dots) => dots.replaceAll('.', '%2E'))
    .replace(/[. ]$/, percentEncode);
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function shortened(name: string): string {
  // A UTF-16 code unit takes at most three bytes.
  if (name.length * 3 <= MAX_NAME_BYTES || Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16);
  const extension = /\.[A-Za-z0-9]{1,12}$/.exec(name)?.[0] ?? '';
  let head = '';
  let size = 0;
  for (const character of name) {
    size += Buffer.byteLength(character);
    if (size > MAX_NAME_BYTES - 40) break;
    head += character;
  }
  return `${head.replace(/[. ]+$/, '')}.${hash}${extension}`;
}
