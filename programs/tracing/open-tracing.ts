import { context, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { packageVersion } from '../process/package.ts';
import { propagateTo, traceServer } from './http.ts';
import { createSpans } from './spans.ts';
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
