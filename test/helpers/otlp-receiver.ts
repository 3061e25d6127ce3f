import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';
import { z } from 'zod';
import { startHttpSite } from './http-site.ts';

/** The used part of https://github.com/open-telemetry/opentelemetry-proto. */
const PROTOCOL = `
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15;
  }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; } }
`;

const hex = z.string().transform((base64) => Buffer.from(base64, 'base64').toString('hex'));
const attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .transform((all) => Object.fromEntries(all.map(({ key, value }) => [key, Object.values(value)[0]])));
const span = z.object({
  traceId: hex,
  spanId: hex,
  parentSpanId: hex,
  name: z.string(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes,
  links: z.array(z.object({ traceId: hex, spanId: hex })),
  status: z.object({ code: z.number() }).nullable().default(null),
});
const request = z.object({
  resourceSpans: z.array(
    z.object({ resource: z.object({ attributes }), scopeSpans: z.array(z.object({ spans: z.array(span) })) }),
  ),
});

export type ReceivedSpan = z.infer<typeof span> & { service: unknown };

/** A collector that receives traces by OTLP over HTTP in the binary format. */
export async function startOtlpReceiver(): Promise<{ url: string; spans: ReceivedSpan[]; close(): Promise<void> }> {
  const type = protobuf.parse(PROTOCOL).root.lookupType('Request');
  const spans: ReceivedSpan[] = [];
  const { origin, close } = await startHttpSite(async (message, response) => {
    const decoded = type.decode(await buffer(message));
    const { resourceSpans } = request.parse(
      type.toObject(decoded, { bytes: String, longs: String, arrays: true, defaults: true }),
    );
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = resource.attributes['service.name'];
      for (const each of scopeSpans) spans.push(...each.spans.map((one) => ({ ...one, service })));
    }
    response.writeHead(message.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/x-protobuf' }).end();
  });
  return { url: origin, spans, close };
}
