import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { errorCode, errorText } from '../../embedded/report.ts';
import { UsageError } from '../command-error.ts';

/** A body of the user's own: the text as it stands in the file, and what it says. */
export interface GivenBody {
  text: string;
  json: unknown;
}

/**
 * Reads the file, or standard input for `-`. The text is sent as it is: what is signed are its bytes.
 * @throws UsageError where it can't be read or isn't JSON in UTF-8.
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
    // A byte order mark stays, and is then refused as JSON: the receiver would refuse it too.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`--body ${file}: expected JSON in UTF-8`);
  }
}
