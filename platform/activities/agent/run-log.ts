import { stripVTControlCharacters } from 'node:util';
import { createSecretMask } from './mask-secrets.ts';

/** How much of a log that is too long is its beginning; the rest is its end, where the reasons stand. */
const HEAD_SHARE = 0.25;

/** What a run printed, as it is kept: masked, and bounded by leaving out the middle. */
export type RunLog = {
  write(chunk: Uint8Array): void;
  /** Adds what still waited to be told. */
  end(): void;
  bytes(): Buffer;
  /** Bytes written so far, those left out included. */
  readonly writtenBytes: number;
  /** The last characters as plain text, for people: no colours, no control characters, at most `maxCharacters`. */
  tail(maxCharacters: number): string;
};

export function createRunLog({ maxBytes, secrets }: { maxBytes: number; secrets: readonly string[] }): RunLog {
  const mask = createSecretMask(secrets);
  const headBytes = Math.floor(maxBytes * HEAD_SHARE);
  const tailBytes = maxBytes - headBytes;
  const head: Buffer[] = [];
  const last: Buffer[] = [];
  let headSize = 0;
  let lastSize = 0;
  let leftOutBytes = 0;

  function keep(bytes: Buffer): void {
    const room = Math.max(0, headBytes - headSize);
    if (room > 0) head.push(bytes.subarray(0, room));
    headSize += Math.min(room, bytes.length);
    const more = bytes.subarray(room);
    if (more.length > 0) last.push(more);
    lastSize += more.length;
    while (lastSize > tailBytes) {
      const [oldest = Buffer.alloc(0)] = last;
      const cut = Math.min(oldest.length, lastSize - tailBytes);
      if (cut === oldest.length) last.shift();
      else last[0] = oldest.subarray(cut);
      lastSize -= cut;
      leftOutBytes += cut;
    }
  }

  return {
    write: (chunk) => keep(mask.push(chunk)),
    end: () => keep(mask.end()),
    bytes() {
      const note = leftOutBytes === 0 ? '' : `\n[… ${leftOutBytes} bytes left out …]\n`;
      return Buffer.concat([...head, Buffer.from(note), ...last]);
    },
    get writtenBytes() {
      return headSize + lastSize + leftOutBytes;
    },
    tail(maxCharacters) {
      // Four bytes make a character at most; colours and the like are allowed as much again.
      const end = Buffer.concat([...head, ...last]).subarray(-8 * maxCharacters);
      return [...plainText(end.toString())].slice(-maxCharacters).join('').trim();
    },
  };
}

/**
 * Text for people: without terminal sequences, control characters and those that turn the direction of what follows; of
 * a line that a program wrote over, its last state.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replaceAll(/^.*\r(?=.)/gm, '')
    .replaceAll(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\ufeff]/g, '')
    .replaceAll(/(?![\n\t])\p{Cc}/gu, '');
}
