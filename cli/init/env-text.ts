import { readFile } from 'node:fs/promises';
import { errorCode, errorText } from '../../base/error-code.ts';
import { CommandError, UsageError } from '../command-error.ts';

/** The text of a file; undefined if there is none. */
export async function readOptional(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new CommandError(`${file} can't be read: ${errorText(error)}`);
  });
}

/**
 * The text of a `.env` after variables were set. Other lines, comments and their order stay.
 * @throws UsageError if a value can't be written to such a file.
 */
export function withVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const missing = new Map(Object.entries(variables));
  const lines = text.split('\n').map((line) => {
    const name = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/.exec(line)?.[1];
    const value = name === undefined ? undefined : missing.get(name);
    if (name === undefined || value === undefined) return line;
    missing.delete(name);
    return `${name}=${quoted(name, value)}`;
  });
  const kept = lines.join('\n').replace(/\n*$/, '');
  const added = [...missing].map(([name, value]) => `${name}=${quoted(name, value)}`);
  return `${[...(kept === '' ? [] : [kept]), ...added].join('\n')}\n`;
}

/** The format has no escapes, so a value is written between quotes that it doesn't contain. */
function quoted(name: string, value: string): string {
  if (/^[\w.:/@+-][\w.:/@+=-]*$/.test(value)) return value;
  const quote = ["'", '`', '"'].find((each) => !value.includes(each) && !(each === '"' && value.includes('\\')));
  if (quote === undefined || /[\r\n\0]/.test(value))
    throw new UsageError(
      `${name}: expected one line without all three of ', " and \`; set it in the environment instead`,
    );
  return quote + value + quote;
}
