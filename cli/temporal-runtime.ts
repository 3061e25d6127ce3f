import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

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
      part[ours === 'info' ? 'debug' : ours]({ ...meta }, message);
    }),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
}
