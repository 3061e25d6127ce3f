import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { InjectedSinks } from '@temporalio/worker';
import type { Sinks } from '@temporalio/workflow';
import type { SpanIdentity, WorkflowSpan } from '../../contract/trace.ts';

interface TraceSinks extends Sinks {
  traces: { ended(span: WorkflowSpan): void };
}

type Deps = { processor: SpanProcessor; resource: Resource; version: string };

/** Takes the spans of workflows (workflows/tracing/interceptors.ts), each once: not in replays. */
export function workflowSinks(deps: Deps): InjectedSinks<TraceSinks> {
  return {
    traces: { ended: { fn: (_info, span) => deps.processor.onEnd(readableSpan(span, deps)), callDuringReplay: false } },
  };
}

/** The SDK can't start a span with a given id, so this is what it makes of one. */
function readableSpan(span: WorkflowSpan, { resource, version }: Omit<Deps, 'processor'>): ReadableSpan {
  const { name, traceId, flags, parentSpanId, startMs, endMs, failed } = span;
  return {
    name,
    kind: SpanKind.INTERNAL,
    spanContext: () => contextOf(span),
    parentSpanContext: contextOf({ traceId, spanId: parentSpanId, flags }),
    startTime: timeOf(startMs),
    endTime: timeOf(endMs),
    duration: timeOf(endMs - startMs),
    status: { code: failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: { 'temporal.workflow.id': span.workflowId, 'temporal.workflow.run_id': span.runId },
    links: span.links.map((link) => ({ context: contextOf(link) })),
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'galley', version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf({ traceId, spanId, flags }: SpanIdentity) {
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

function timeOf(ms: number): [number, number] {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
