import type { SpanContext } from '@opentelemetry/api';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { Sinks } from '@temporalio/workflow';
import { z } from 'zod';
import type { SpanIdentity, WorkflowSpan } from '../../contract/trace.ts';
import { TRACE_HEADER } from '../../contract/trace.ts';
import { type Spans, traceparentOf } from './spans.ts';

/** Polling activities have thousands of attempts. */
const MAX_TRACED_ATTEMPTS = 10;

/** Deliveries of the signal `published`, whose requests are one trace each. */
const publishedArgs = z.tuple([z.object({ deliveries: z.array(z.object({ traceparent: z.string().optional() })) })]);

/**
 * Starts and signals of a request are spans of its trace. A start carries the trace in a header. The signal `published`
 * carries those of its deliveries in its payload, because one signal has those of many requests.
 */
export function clientInterceptor(spans: Spans): WorkflowClientInterceptor {
  return {
    startWithDetails(input, next) {
      const parent = spans.current();
      if (parent === undefined) return next(input);
      const attributes = { 'temporal.workflow.id': input.options.workflowId };
      return spans.run({ name: `start ${input.workflowType}`, kind: 'PRODUCER', parent, attributes }, (span) =>
        next({ ...input, headers: withTrace(input.headers, span.spanContext()) }),
      );
    },
    signalWithStart(input, next) {
      const parsed = publishedArgs.safeParse(input.signalArgs);
      const traces = parsed.success ? parsed.data[0].deliveries.flatMap(({ traceparent }) => traceparent ?? []) : [];
      const [parent = spans.current(), ...links] = traces;
      if (parent === undefined) return next(input);
      const attributes = { 'temporal.workflow.id': input.options.workflowId };
      const name = `signal ${input.workflowType}`;
      return spans.run({ name, kind: 'PRODUCER', parent, links: links.slice(-20), attributes }, () => next(input));
    },
  };
}

/** An activity is a span of the trace that its workflow was in when it scheduled it. */
export function activityInterceptor(spans: Spans): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      execute(input, next) {
        const parent = traceOf(input.headers);
        if (parent === undefined || info.attempt > MAX_TRACED_ATTEMPTS) return next(input);
        const attributes = {
          'temporal.workflow.id': info.workflowExecution?.workflowId ?? '',
          'temporal.workflow.run_id': info.workflowExecution?.runId ?? '',
          'temporal.activity.attempt': info.attempt,
        };
        return spans.run({ name: `activity ${info.activityType}`, kind: 'CONSUMER', parent, attributes }, () =>
          next(input),
        );
      },
    },
  });
}

function withTrace(headers: Headers, span: SpanContext): Headers {
  return { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent: traceparentOf(span) }) };
}

function traceOf(headers: Headers): string | undefined {
  const header = headers[TRACE_HEADER];
  if (header === undefined) return undefined;
  const carrier = z.object({ traceparent: z.string() }).safeParse(defaultPayloadConverter.fromPayload(header));
  return carrier.data?.traceparent;
}

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
