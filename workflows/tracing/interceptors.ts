// Part of the bundle only if traces are on. Adds no promise to the workflow's own, so that histories replay with and
// without it.
import {
  defaultPayloadConverter,
  type Headers,
  proxySinks,
  type Sinks,
  type WorkflowInterceptorsFactory,
  workflowInfo,
} from '@temporalio/workflow';
import { readTraceparent, TRACE_HEADER, type WorkflowSpan } from '../../contract/trace.ts';
import { DIGITS, hash64 } from '../deliveries/hash64.ts';
import { currentSpan, installTracer } from './span.ts';

/** The worker takes the spans here: workflow code can't send them. */
interface TraceSinks extends Sinks {
  traces: { ended(span: WorkflowSpan): void };
}

const { traces: sink } = proxySinks<TraceSinks>();

installTracer(runInSpan);

export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [
    {
      execute(input, next) {
        const parent = traceparentOf(input.headers);
        if (parent === undefined) return next(input);
        return runInSpan({ name: `workflow ${workflowInfo().workflowType}`, traces: [parent] }, () => next(input));
      },
    },
  ],
  outbound: [
    {
      scheduleActivity: (input, next) => next(withTrace(input)),
      startChildWorkflowExecution: (input, next) => next(withTrace(input)),
      continueAsNew: (input, next) => next(withTrace(input)),
    },
  ],
});

function runInSpan<T>(span: { name: string; traces: readonly string[] }, work: () => Promise<T>): Promise<T> {
  const { name, traces } = span;
  const [parent, ...links] = traces.flatMap((text) => readTraceparent(text) ?? []);
  if (parent === undefined) return work();
  const { traceId, flags, spanId: parentSpanId } = parent;
  const { runId, workflowId } = workflowInfo();
  const startMs = Date.now();
  const spanId = spanIdOf(`${runId} ${name} ${startMs}`);
  const running = currentSpan.run(`00-${traceId}-${spanId}-${flags}`, work);
  const end = (failed: boolean): void => {
    const times = { startMs, endMs: Date.now() };
    sink.ended({ name, workflowId, runId, traceId, spanId, flags, parentSpanId, links, ...times, failed });
  };
  running.then(
    () => end(false),
    () => end(true),
  );
  return running;
}

function withTrace<Input extends { readonly headers: Headers }>(input: Input): Input {
  const traceparent = currentSpan.getStore();
  if (traceparent === undefined) return input;
  const header = defaultPayloadConverter.toPayload({ traceparent });
  return { ...input, headers: { ...input.headers, [TRACE_HEADER]: header } };
}

function traceparentOf(headers: Headers): string | undefined {
  const header = headers[TRACE_HEADER];
  if (header === undefined) return undefined;
  const carrier: unknown = defaultPayloadConverter.fromPayload(header);
  const sent: unknown = typeof carrier === 'object' && carrier !== null ? Reflect.get(carrier, 'traceparent') : '';
  return typeof sent === 'string' ? sent : undefined;
}

/** The same in a replay, and without taking from the workflow's random numbers. */
function spanIdOf(text: string): string {
  const bits = [...hash64(text)].reduce((sum, digit) => sum * 64n + BigInt(DIGITS.indexOf(digit)), 0n);
  return (BigInt.asUintN(64, bits) || 1n).toString(16).padStart(16, '0');
}
