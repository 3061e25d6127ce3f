import { stripVTControlCharacters } from 'node:util';
import { createByteQueue } from './byte-queue.ts';
import { createSecretMask } from './mask-secrets.ts';

/** The share of the beginning in a log that is too long; the rest is its end, which usually has the reason. */
const HEAD_SHARE = 0.25;

/** A run's output as it is stored: masked, and shortened in the middle. */
export type RunLog = {
  write(chunk: Uint8Array): void;
  /** Adds what the mask held back. */
  end(): void;
  bytes(): Buffer;
  /** Bytes written so far, including omitted ones. */
  readonly writtenBytes: number;
  /** The last characters as plain text: no colors, no control characters, at most `maxCharacters`. */
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
      // A character has at most four bytes; allow as much again for colors and the like.
      const end = Buffer.concat([...head.parts(), ...last.parts()]).subarray(-8 * maxCharacters);
      return [...plainText(end.toString())].slice(-maxCharacters).join('').trim();
    },
  };
}

/**
 * Text for people: without terminal sequences, control characters and direction overrides; for a line that was
 * overwritten, its last state.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replaceAll(/^.*\r(?=.)/gm, '')
    .replaceAll(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\ufeff]/g, '')
    .replaceAll(/(?![\n\t])\p{Cc}/gu, '');
}
