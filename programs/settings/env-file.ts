import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { errorCode } from '../../base/error-code.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { DEFAULT_CONFIG, type Variables } from './environment.ts';

/** The `.env` beside a galley.yaml. */
export function envFileBeside(config: string): string {
  return join(dirname(resolve(config)), '.env');
}

/** The galley.yaml that the environment names, which may be missing. */
export function configFile({ GALLEY_CONFIG } = process.env): string {
  return GALLEY_CONFIG || DEFAULT_CONFIG;
}

/**
 * Adds the variables of the `.env` beside galley.yaml to the process's environment, because the clients of Temporal, S3
 * and OpenTelemetry read it themselves. A variable that the environment has already wins, even if it is empty. Does
 * nothing without a galley.yaml or without the file.
 * @throws ConfigurationError if the file can't be read.
 */
export function loadEnvFile(environment = process.env): void {
  const config = configFile(environment);
  if (!existsSync(config)) return;
  for (const [name, value] of Object.entries(readEnvFile(envFileBeside(config)))) environment[name] ??= value;
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
