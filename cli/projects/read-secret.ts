import { text } from 'node:stream/consumers';
import { UsageError } from '../command-error.ts';

/**
 * A secret option; `-` reads it from standard input, so that it is in no process list.
 * @throws UsageError if standard input is empty.
 */
export async function readSecret(option: string, given: string, input: NodeJS.ReadableStream): Promise<string> {
  if (given !== '-') return given;
  const secret = (await text(input)).replace(/\r?\n$/, '');
  if (secret === '') throw new UsageError(`${option} -: expected the secret on standard input`);
  return secret;
}
