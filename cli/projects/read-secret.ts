import { text } from 'node:stream/consumers';
import { UsageError } from '../command-error.ts';

/**
 * A secret given as an option; `-` reads it from standard input, so that it stands in no list of processes.
 * @throws UsageError where standard input is empty.
 */
export async function readSecret(option: string, given: string, input: NodeJS.ReadableStream): Promise<string> {
  if (given !== '-') return given;
  const secret = (await text(input)).replace(/\r?\n$/, '');
  if (secret === '') throw new UsageError(`${option} -: expected the secret on standard input`);
  return secret;
}
