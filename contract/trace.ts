/** OpenTelemetry traces across programs, in the W3C form (https://www.w3.org/TR/trace-context/). */

/** The Temporal header of Temporal's own OpenTelemetry interceptors, so that traces of other clients continue here. */
export const TRACE_HEADER = '_tracer-data';

/** Identifies a span. `flags` is `01` if it is recorded. */
export type SpanIdentity = { traceId: string; spanId: string; flags: string };

/** A span of a workflow, once it has ended. Times are the workflow's, in milliseconds. */
export type WorkflowSpan = SpanIdentity & {
  name: string;
  workflowId: string;
  runId: string;
  parentSpanId: string;
  links: SpanIdentity[];
  startMs: number;
  endMs: number;
  failed: boolean;
};

/** Undefined for anything but a valid `traceparent` of version 00. */
export function readTraceparent(text: string): SpanIdentity | undefined {
  const [, traceId = '', spanId = '', flags = ''] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text) ?? [];
  return /[1-9a-f]/.test(traceId) && /[1-9a-f]/.test(spanId) ? { traceId, spanId, flags } : undefined;
}
