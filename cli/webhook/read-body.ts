import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { errorCode, errorText } from '../../base/error-code.ts';
import { UsageError } from '../command-error.ts';

/** A body from the user: the text of the file, and the parsed JSON. */
export interface GivenBody {
  text: string;
  json: unknown;
}

/**
 * Reads the file, or standard input for `-`. The text is kept as it is, because its bytes are signed.
 * @throws UsageError if it can't be read or isn't JSON in UTF-8.
 */
export async function readBody(file: string, input: NodeJS.ReadableStream): Promise<GivenBody> {
  const text = decode(file, file === '-' ? await buffer(input) : await readBytes(file));
  try {
    return { text, json: JSON.parse(text) };
  } catch (error) {
    throw new UsageError(`--body ${file}: expected JSON: ${errorText(error)}`);
  }
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new UsageError(`--body ${file}: expected a readable file (${errorCode(error) ?? errorText(error)})`);
  }
}

function decode(file: string, bytes: Buffer): string {
  try {
    // Keeps a byte order mark, which then fails as JSON: the receiver rejects it too.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`--body ${file}: expected JSON in UTF-8`);
  }
}
