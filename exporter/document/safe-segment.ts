import { createHash } from 'node:crypto';

const MAX_NAME_BYTES = 200;
/** What some file system or archive tool refuses, or reads as something else. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not stand in a file name
const UNSAFE = /[\x00-\x1f\x7f"*/:<>?\\|]/g;
/** Most names are made of these alone, with nothing to escape. */
const PLAIN = /^[\w.-]*[\w-]$/;
/** Names Windows keeps for devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/**
 * A segment of an address as a name every file system takes: readable, unsafe characters escaped as in addresses,
 * never longer than 200 bytes.
 */
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
  // A character takes three bytes at most.
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
