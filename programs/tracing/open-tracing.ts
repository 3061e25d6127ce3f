import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, RequestListener } from 'node:http';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { packageVersion } from '../process/package.ts';
import { createSpans, type Spans } from './spans.ts';
import { activityInterceptor, clientInterceptor, workflowSinks } from './temporal.ts';
import type { Tracing } from './tracing.ts';

/**
 * Records spans and sends them by OTLP over HTTP. The SDK reads its standard variables itself: the endpoint, headers, the
 * sampler, the resource.
 */
export function openTracing(serviceName: string): Tracing {
  const version = packageVersion();
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }));
  const processor = new BatchSpanProcessor(new OTLPTraceExporter());
  const provider = new NodeTracerProvider({ resource, spanProcessors: [processor] });
  provider.register({ propagator: null });
  const spans = createSpans(provider.getTracer('galley', version));
  const subscriptions: (() => void)[] = [];
  return {
    client: clientInterceptor(spans),
    worker: { activity: [activityInterceptor(spans)], sinks: workflowSinks({ processor, resource, version }) },
    server: (app, options) => traceServer(spans, app, options),
    propagateTo: (url) => void subscriptions.push(propagateTo(spans, new URL(url).origin)),
    current: spans.current,
    async stop() {
      for (const unsubscribe of subscriptions) unsubscribe();
      await provider.shutdown();
      trace.disable();
      context.disable();
    },
  };
}

/** Undici, and so Node's own `fetch`, publishes here before it sends a request. */
const CHANNEL = 'undici:request:create';

/**
 * Adds `traceparent` to requests to one origin: other servers, such as sites that are crawled, have no use for it. Returns
 * a function that ends this.
 */
function propagateTo(spans: Spans, origin: string): () => void {
  const onCreate = (message: unknown): void => {
    const request = propertyOf(message, 'request');
    const target = String(propertyOf(request, 'origin'));
    const addHeader = propertyOf(request, 'addHeader');
    const traceparent = spans.current();
    if (traceparent === undefined || !URL.canParse(target) || new URL(target).origin !== origin) return;
    if (typeof addHeader === 'function') addHeader.call(request, 'traceparent', traceparent);
  };
  subscribe(CHANNEL, onCreate);
  return () => void unsubscribe(CHANNEL, onCreate);
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Monitoring requests these every few seconds. */
const UNTRACED = /^\/(?:healthz|readyz|metrics)(?:$|\?)/;

/** Runs each request as a span. Its name has the route but not the path, which may hold an id or a signed link. */
function traceServer(spans: Spans, app: RequestListener, { trusted }: { trusted: boolean }): RequestListener {
  return (request, response) => {
    if (UNTRACED.test(request.url ?? '')) return app(request, response);
    const method = request.method ?? '';
    const sent = [request.headers.traceparent].flat()[0];
    const [parent, links] = trusted ? [sent, []] : [undefined, sent === undefined ? [] : [sent]];
    const attributes = { 'http.request.method': method };
    spans.start({ name: method, kind: 'SERVER', parent, links, attributes }, (span) => {
      response.once('close', () => {
        const route = routeOf(request);
        if (route !== '') span.updateName(`${method} ${route}`).setAttribute('http.route', route);
        span.setAttribute('http.response.status_code', response.statusCode);
        if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
      // Otherwise what runs after the body was read, by an event of the request, is outside the span.
      context.bind(context.active(), request);
      context.bind(context.active(), response);
      app(request, response);
    });
  };
}

/** Express sets it when a route matches. */
function routeOf(request: IncomingMessage): string {
  const route: unknown = Reflect.get(request, 'route');
  const path: unknown = typeof route === 'object' && route !== null ? Reflect.get(route, 'path') : undefined;
  const base: unknown = Reflect.get(request, 'baseUrl');
  return typeof path === 'string' ? `${typeof base === 'string' ? base : ''}${path}` : '';
}
