import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, RequestListener } from 'node:http';
import { context, SpanStatusCode } from '@opentelemetry/api';
import type { Spans } from './spans.ts';

/** Undici, and so Node's own `fetch`, publishes here before it sends a request. */
const CHANNEL = 'undici:request:create';

/**
 * Adds `traceparent` to requests to one origin: other servers, such as sites that are crawled, have no use for it. Returns
 * a function that ends this.
 */
export function propagateTo(spans: Spans, origin: string): () => void {
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
export function traceServer(spans: Spans, app: RequestListener, { trusted }: { trusted: boolean }): RequestListener {
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
