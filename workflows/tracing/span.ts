import { AsyncLocalStorage } from '@temporalio/workflow';
import { readTraceparent } from '../../contract/trace.ts';

/** The most traces that a span refers to. A burst of publishes may have thousands. */
const MAX_TRACES = 20;

/** A W3C `traceparent`: version, trace id, span id, flags. */
type Traceparent = string;

/** What a workflow does for the requests whose `traceparent` headers are `traces`. */
type SpanOptions = { name: string; traces: readonly Traceparent[] | undefined };

type Tracer = <T>(span: { name: string; traces: readonly Traceparent[] }, work: () => Promise<T>) => Promise<T>;

/** This is set only in bundles with interceptors.ts, which a worker uses if traces are on. */
let tracer: Tracer | undefined;

/** The span that runs. Activities and workflows that are started in it belong to it. */
export const currentSpan = new AsyncLocalStorage<Traceparent>();

export function installTracer(installed: Tracer): void {
  tracer = installed;
}

/**
 * Runs `work` as a span of the first trace, with links to the others. Without traces, it only runs `work`. Returns the
 * promise of `work` itself, so that commands have the same order with and without traces.
 */
export function inSpan<T>({ name, traces }: SpanOptions, work: () => Promise<T>): Promise<T> {
  return tracer === undefined || !traces || traces.length === 0 ? work() : tracer({ name, traces }, work);
}

/** Adds the valid ones to the traces that wait. The first one stays, as the parent. */
export function addTraces(
  traces: readonly Traceparent[] | undefined,
  more: readonly (Traceparent | undefined)[],
): { traces?: Traceparent[] } {
  const all = [...new Set([...(traces ?? []), ...more.filter(isTraceparent)])];
  const [first, ...others] = all;
  return first === undefined ? {} : { traces: [first, ...others.slice(-(MAX_TRACES - 1))] };
}

/** The state has a limit, and anyone may send a signal. */
function isTraceparent(text: Traceparent | undefined): text is Traceparent {
  return text !== undefined && readTraceparent(text) !== undefined;
}
