import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';

/** Fields that must not be read in a log whatever object carries them. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'token', 'apiKey', 'key', 'bundleUrl'];

/**
 * Logs to standard error, so that a command's own output stays clean: JSON lines, or for a person at a terminal
 * readable ones.
 */
export function createLogger({ level, terminal }: { level: string; terminal: boolean }): Logger {
  const options = {
    level,
    base: {},
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '[redacted]' },
  };
  const readable = { destination: process.stderr.fd, sync: true, singleLine: true, translateTime: 'HH:MM:ss' };
  return terminal ? pino(options, pretty(readable)) : pino(options, pino.destination({ dest: 2, sync: true }));
}
