import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { errorText } from '../embedded/report.ts';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** What the SDK warns of and we mean: agents have a worker that runs activities only. */
const MEANT = new Set(['No workflows registered, not polling for workflow tasks']);

/**
 * Sends what the SDK and its native core log through our logger, and leaves signals to us: by default the SDK ends
 * workers at SIGINT by itself, before what depends on them. Once a process, before the first connection.
 */
export function installTemporalRuntime(logger: Logger): void {
  const part = logger.child({ part: 'temporal' });
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
      // The SDK's "info" tells of its own states, which are of use only when something is looked for.
      const ours = LEVELS[level];
      part[ours === 'info' || MEANT.has(message) ? 'debug' : ours](readable(meta), message);
    }),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
}

/** An error as its message, which a log of its fields would leave out, and without the token that only Temporal reads. */
function readable(meta: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const { taskToken: _, error, ...rest } = meta ?? {};
  return error === undefined ? rest : { ...rest, reason: errorText(error) };
}
