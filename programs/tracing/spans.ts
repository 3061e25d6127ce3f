import {
  type Attributes,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { readTraceparent } from '../../contract/trace.ts';

type SpanOptions = {
  name: string;
  kind: keyof typeof SpanKind;
  /** A `traceparent`; undefined for a new trace. */
  parent: string | undefined;
  links?: readonly string[];
  attributes?: Attributes;
};

export type Spans = {
  /** Runs `work` as a span, which ends with its promise. */
  run<T>(options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** Starts a span that the caller ends, and runs `work` in it. */
  start(options: SpanOptions, work: (span: Span) => void): void;
  /** The `traceparent` of the span that runs. */
  current(): string | undefined;
};

export function createSpans(tracer: Tracer): Spans {
  const startSpan = ({ name, kind, parent, links = [], attributes = {} }: SpanOptions) => {
    const from = parent === undefined ? undefined : spanContextOf(parent);
    const inParent = from === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, from);
    const options = { kind: SpanKind[kind], attributes, links: links.flatMap(linkOf) };
    const span = tracer.startSpan(name, options, inParent);
    return { span, within: trace.setSpan(inParent, span) };
  };
  return {
    async run(options, work) {
      const { span, within } = startSpan(options);
      try {
        return await context.with(within, () => work(span));
      } catch (error) {
        setFailure(span, error);
        throw error;
      } finally {
        span.end();
      }
    },
    start(options, work) {
      const { span, within } = startSpan(options);
      context.with(within, () => work(span));
    },
    current() {
      const running = trace.getSpanContext(context.active());
      return running === undefined ? undefined : traceparentOf(running);
    },
  };
}

export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function spanContextOf(traceparent: string): SpanContext | undefined {
  const identity = readTraceparent(traceparent);
  if (identity === undefined) return undefined;
  const { traceId, spanId, flags } = identity;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

function linkOf(traceparent: string): Link[] {
  const linked = spanContextOf(traceparent);
  return linked === undefined ? [] : [{ context: linked }];
}

/** Records only the error's type: its message may be encrypted in Temporal, and would be readable here. */
function setFailure(span: Span, error: unknown): void {
  if (error instanceof ApplicationFailure) {
    if (error.category === ApplicationFailureCategory.BENIGN) return;
    if (error.type) span.setAttribute('error.type', error.type);
  } else if (error instanceof Error) span.setAttribute('error.type', error.name);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
