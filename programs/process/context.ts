import { createRequire } from 'node:module';
import pino, { type Logger } from 'pino';
import { errorCode } from '../../base/error-code.ts';
import { loadEnvFile } from '../settings/env-file.ts';
import { readSettings, type Settings } from '../settings/environment.ts';
import type { Lifetime } from './lifetime.ts';

/** What every command starts from. */
export interface Context {
  settings: Settings;
  logger: Logger;
}

/** What a program composes its parts from. */
export interface ProcessContext extends Context {
  lifetime: Lifetime;
}

type ContextOptions = { quiet?: boolean; level?: 'error' | 'warn' };

/**
 * `quiet` is for a command with its own output: only errors are logged, or what `level` says, unless LOG_LEVEL asks for more.
 * Reads the `.env` beside galley.yaml first.
 * @throws ConfigurationError if a variable is invalid.
 */
export function createContext({ quiet = false, level: least = 'error' }: ContextOptions = {}): Context {
  loadEnvFile();
  const settings = readSettings();
  const level = quiet && settings.variables.LOG_LEVEL === undefined ? least : settings.logLevel;
  return { settings, logger: createLogger({ level, terminal: process.stderr.isTTY === true }) };
}

/** Fields that are redacted in logs, whatever object has them. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'token', 'apiKey', 'key', 'bundleUrl'];

/** Errors of the system or of an unavailable database: code and message say it all. */
const EXPECTED_CODES = /^(E(?!RR_)[A-Z0-9_]+|08...|53...|57P0[1-5])$/;

/**
 * An error's type, message, code and other words; with its stack only if it may be a bug. Not its objects: libraries
 * attach connections, requests and responses, with keys in them.
 */
function describeError(error: Error): object {
  const { stack, ...fields } = pino.stdSerializers.err(error);
  const words = Object.entries(fields).filter(([, value]) => typeof value !== 'object' && typeof value !== 'function');
  const shown = Object.fromEntries(words);
  return EXPECTED_CODES.test(errorCode(error) ?? '') ? shown : { ...shown, stack };
}

/** Logs to standard error, so that a command's own output stays clean: JSON lines, or readable ones on a terminal. */
export function createLogger({ level, terminal }: { level: string; terminal: boolean }): Logger {
  const options = {
    level,
    base: {},
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '[redacted]' },
  };
  if (!terminal) return pino(options, pino.destination({ dest: 2, sync: true }));
  // Loaded only for a terminal, and not by `import`, which would make every caller wait for it.
  const pretty: typeof import('pino-pretty') = createRequire(import.meta.url)('pino-pretty');
  const readable = { destination: process.stderr.fd, sync: true, singleLine: true, translateTime: 'HH:MM:ss' };
  return pino(options, pretty(readable));
}
