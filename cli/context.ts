import type { Logger } from 'pino';
import { readSettings, type Settings } from './environment.ts';
import { createLogger } from './logger.ts';

/** What every command starts from. */
export interface Context {
  settings: Settings;
  logger: Logger;
}

/** @throws ConfigurationError when a variable is wrong. */
export function createContext(): Context {
  const settings = readSettings();
  return { settings, logger: createLogger({ level: settings.logLevel, terminal: process.stderr.isTTY === true }) };
}
