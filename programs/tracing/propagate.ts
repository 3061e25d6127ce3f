import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Spans } from './spans.ts';

/** Published by undici, also by Node's own `fetch`, before a request is sent. */
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
