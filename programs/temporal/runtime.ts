import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { errorText } from '../../base/error-code.ts';
import type { ProcessContext } from '../process/context.ts';
import { startTracing } from '../tracing/tracing.ts';
import { startWorkerMetrics, type WorkerMetrics } from './worker-metrics.ts';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** An SDK warning about something intended: agents have a worker that runs activities only. */
const MEANT = new Set(['No workflows registered, not polling for workflow tasks']);

/**
 * Starts what must be there before a process connects to Temporal for its workers, once per process: their metrics, the
 * SDK's runtime and traces.
 * @param program its name in traces
 */
export async function startWorkerRuntime(
  program: string,
  { settings, logger, lifetime }: ProcessContext,
): Promise<WorkerMetrics | undefined> {
  const metrics = await startWorkerMetrics(settings, lifetime);
  installTemporalRuntime(logger, metrics?.sdkAddress);
  await startTracing(settings, program, lifetime);
  return metrics;
}

/**
 * Redirects the logs of the SDK and its native core to Galley's logger, and disables the SDK's signal handlers, which
 * would end workers before what depends on them.
 * @param metricsAddress host:port where the SDK's metrics can be scraped; without it, it collects none
 */
function installTemporalRuntime(logger: Logger, metricsAddress?: string): void {
  const part = logger.child({ part: 'temporal' });
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
      // The SDK's "info" is about its own states, which only matter for debugging.
      const ours = LEVELS[level];
      part[ours === 'info' || MEANT.has(message) ? 'debug' : ours](readable(meta), message);
    }),
    telemetryOptions: {
      logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} },
      ...(metricsAddress !== undefined && {
        metrics: { attachServiceName: false, prometheus: exporter(metricsAddress) },
      }),
    },
  });
}

/** Names as Prometheus has them: counters end in `_total`, durations are in seconds. */
function exporter(bindAddress: string) {
  return { bindAddress, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };
}

/** An error's message, which a log of its fields would omit, without the token that only Temporal reads. */
function readable(meta: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const { taskToken: _, error, ...rest } = meta ?? {};
  return error === undefined ? rest : { ...rest, reason: errorText(error) };
}
