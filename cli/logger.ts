import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';
import { errorCode } from '../embedded/report.ts';

/** Fields that must not be read in a log whatever object carries them. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'token', 'apiKey', 'key', 'bundleUrl'];

/** What the system, or a database that is away, says of itself: its code and its sentence are all there is to know. */
const EXPECTED_TROUBLE = /^(E(?!RR_)[A-Z0-9_]+|08...|53...|57P0[1-5])$/;

/** An error's type, message and code; with its stack only where somebody has to look into our code. */
function describeError(error: Error): object {
  const { stack, ...told } = pino.stdSerializers.err(error);
  return EXPECTED_TROUBLE.test(errorCode(error) ?? '') ? told : { ...told, stack };
}

/**
 * Logs to standard error, so that a command's own output stays clean: JSON lines, or for a person at a terminal
 * readable ones.
 */
export function createLogger({ level, terminal }: { level: string; terminal: boolean }): Logger {
  const options = {
    level,
    base: {},
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '[redacted]' },
  };
  const readable = { destination: process.stderr.fd, sync: true, singleLine: true, translateTime: 'HH:MM:ss' };
  return terminal ? pino(options, pretty(readable)) : pino(options, pino.destination({ dest: 2, sync: true }));
}
