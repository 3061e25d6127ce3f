import type { RequestListener } from 'node:http';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { WorkerInterceptors, WorkerOptions } from '@temporalio/worker';
import type { Lifetime } from '../process/lifetime.ts';
import type { Settings } from '../settings/environment.ts';

/** What a program adds to its parts so that they are traced. */
export interface Tracing {
  /** Temporal clients need it: starts and signals carry the trace to the workflow. */
  client: WorkflowClientInterceptor;
  /** Workers need it: activities run as spans, and workflows hand over theirs. */
  worker: { activity: NonNullable<WorkerInterceptors['activity']>; sinks: NonNullable<WorkerOptions['sinks']> };
  /**
   * Runs each request as a span. A request's `traceparent` is its parent if the caller is trusted, otherwise a link:
   * anyone may send one.
   */
  server(app: RequestListener, options: { trusted: boolean }): RequestListener;
  /** Sends `traceparent` with requests to this origin. */
  propagateTo(url: string): void;
  /** The `traceparent` of the span that runs. */
  current(): string | undefined;
  /** Sends what is recorded. */
  stop(): Promise<void>;
}

/** A process has one, as in OpenTelemetry's own API. */
let active: Tracing | undefined;

/** Returns what this process traces with; undefined without OTEL_EXPORTER_OTLP_ENDPOINT. */
export function tracing(): Tracing | undefined {
  return active;
}

/**
 * Starts traces if OTEL_EXPORTER_OTLP_ENDPOINT is set, until the lifetime ends. Call it before anything connects to
 * Temporal. Otherwise no library of OpenTelemetry is loaded.
 * @param program the part of `service.name` after `galley-`; OTEL_SERVICE_NAME replaces all of it
 */
export async function startTracing(
  { traces }: Pick<Settings, 'traces'>,
  program: string,
  lifetime: Pick<Lifetime, 'onStop'>,
): Promise<void> {
  if (!traces) return;
  const { openTracing } = await import('./open-tracing.ts');
  const opened = openTracing(`galley-${program}`);
  active = opened;
  lifetime.onStop('traces', async () => {
    active = undefined;
    await opened.stop();
  });
}
