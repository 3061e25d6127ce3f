import { stripVTControlCharacters } from 'node:util';
import { createByteQueue } from './byte-queue.ts';
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
  const head = createByteQueue();
  const last = createByteQueue();
  let leftOutBytes = 0;

  function keep(bytes: Buffer): void {
    const room = headBytes - head.sizeBytes;
    head.push(bytes.subarray(0, room));
    last.push(bytes.subarray(room));
    const tooMuch = Math.max(0, last.sizeBytes - tailBytes);
    last.dropFirst(tooMuch);
    leftOutBytes += tooMuch;
  }

  return {
    write: (chunk) => keep(mask.push(chunk)),
    end: () => keep(mask.end()),
    bytes() {
      const note = leftOutBytes === 0 ? '' : `\n[… ${leftOutBytes} bytes left out …]\n`;
      return Buffer.concat([...head.parts(), Buffer.from(note), ...last.parts()]);
    },
    get writtenBytes() {
      return head.sizeBytes + last.sizeBytes + leftOutBytes;
    },
    tail(maxCharacters) {
      // Four bytes make a character at most; colours and the like are allowed as much again.
      const end = Buffer.concat([...head.parts(), ...last.parts()]).subarray(-8 * maxCharacters);
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
