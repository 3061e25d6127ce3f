import type { Logger } from 'pino';
import { loadEnvFile } from '../settings/env-file.ts';
import { readSettings, type Settings } from '../settings/environment.ts';
import { createLogger } from './logger.ts';

/** What every command starts from. */
export interface Context {
  settings: Settings;
  logger: Logger;
}

/**
 * `quiet` is for a command with its own output: only errors are logged, unless LOG_LEVEL asks for more.
 * Reads the `.env` beside galley.yaml first.
 * @throws ConfigurationError if a variable is invalid.
 */
export function createContext({ quiet = false }: { quiet?: boolean } = {}): Context {
  loadEnvFile(process.env);
  const settings = readSettings();
  const level = quiet && settings.variables.LOG_LEVEL === undefined ? 'error' : settings.logLevel;
  return { settings, logger: createLogger({ level, terminal: process.stderr.isTTY === true }) };
}
