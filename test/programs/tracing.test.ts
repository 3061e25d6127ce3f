import express from 'express';
import { request } from 'undici';
import { serve } from '../../programs/process/serve.ts';
import { readSettings } from '../../programs/settings/environment.ts';
import { startTracing, type Tracing, tracing } from '../../programs/tracing/tracing.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { startOtlpReceiver } from '../helpers/otlp-receiver.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const SENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const stops: (() => Promise<unknown>)[] = [];
let collector: Awaited<ReturnType<typeof startOtlpReceiver>>;
let traces: Tracing;

beforeAll(async () => {
  collector = await startOtlpReceiver();
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  process.env.OTEL_BSP_SCHEDULE_DELAY = '100';
  await startTracing({ traces: true }, 'test', { onStop: (_name, stop) => void stops.push(stop) });
  const started = tracing();
  if (started === undefined) throw new Error('no traces');
  traces = started;
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
  await collector.close();
});

async function served(trusted: boolean, work: () => unknown = () => {}): Promise<string> {
  const app = express();
  app.post('/sites/:site', express.json(), async (_request, response) => {
    await work();
    response.status(204).end();
  });
  app.get('/healthz', (_request, response) => void response.end());
  const { url, stop } = await serve(traces.server(app, { trusted }), { host: '127.0.0.1', port: 0, variable: 'PORT' });
  stops.push(stop);
  return url;
}

const post = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', ...headers } });

const spanOf = (status: string) =>
  waitFor(() => collector.spans.find((span) => span.attributes['http.response.status_code'] === status), {
    describe: `sent the span of the ${status}`,
  });

describe('a request', () => {
  it("is a span in its caller's trace, named by the route and without the path", async () => {
    const url = await served(true);
    await fetch(`${url}/healthz`);
    await post(`${url}/sites/docs?token=secret`, { traceparent: SENT });
    const span = await spanOf('204');
    expect(span).toMatchObject({
      ...{ name: 'POST /sites/:site', service: 'galley-test', links: [] },
      ...{ traceId: SENT.split('-')[1], parentSpanId: SENT.split('-')[2] },
    });
    expect(JSON.stringify(collector.spans)).not.toMatch(/secret|healthz/);
  });

  it("of an unknown sender starts a new trace, linked to the sender's", async () => {
    const url = await served(false);
    await fetch(`${url}/nowhere`, { headers: { traceparent: SENT } });
    const span = await spanOf('404');
    expect(span).toMatchObject({ name: 'GET', parentSpanId: '', links: [{ traceId: SENT.split('-')[1] }] });
    expect(span.traceId).not.toBe(SENT.split('-')[1]);
  });

  it('passes its trace only to one server', async () => {
    const received: (string | undefined)[] = [];
    const [platform, other] = await Promise.all(
      ['platform', 'other'].map((name) =>
        startHttpSite((message, response) => {
          received.push(`${name} ${message.headers.traceparent}`);
          response.end();
        }),
      ),
    );
    if (!platform || !other) throw new Error('no servers');
    stops.push(platform.close, other.close);
    traces.propagateTo(`${platform.origin}/base`);
    let inside: string | undefined;
    const url = await served(true, async () => {
      inside = traces.current();
      await (await request(platform.origin)).body.dump();
      await (await request(other.origin)).body.dump();
    });
    await post(`${url}/sites/docs`);
    await (await request(platform.origin)).body.dump();
    expect(inside).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(received).toEqual([`platform ${inside}`, 'other undefined', 'platform undefined']);
  });
});

describe('traces', () => {
  it.each([
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'true' }, false],
  ])('are configured by the variables: %j', (variables, expected) => {
    expect(readSettings(variables).traces).toBe(expected);
  });
});
