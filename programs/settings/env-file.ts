import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { errorCode } from '../../base/error-code.ts';
import { UsageError } from '../../cli/command-error.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { DEFAULT_CONFIG, type Variables } from './environment.ts';

/** The `.env` beside a galley.yaml. */
export function envFileBeside(configFile: string): string {
  return join(dirname(resolve(configFile)), '.env');
}

/**
 * Adds the variables of the `.env` beside galley.yaml to the process's environment, because the clients of Temporal, S3
 * and OpenTelemetry read it themselves. A variable that the environment has already wins, even if it is empty. Does
 * nothing without a galley.yaml or without the file.
 * @throws ConfigurationError if the file can't be read.
 */
export function loadEnvFile(environment: NodeJS.ProcessEnv): void {
  const configFile = environment.GALLEY_CONFIG || DEFAULT_CONFIG;
  if (!existsSync(configFile)) return;
  for (const [name, value] of Object.entries(readEnvFile(envFileBeside(configFile)))) environment[name] ??= value;
}

/**
 * The variables of a `.env`; empty if there is no such file.
 * @throws ConfigurationError if it can't be read.
 */
export function readEnvFile(file: string): Variables {
  return parseEnv(readText(file));
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw new ConfigurationError([`${file}: expected a readable file (${errorCode(error) ?? String(error)})`]);
  }
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
