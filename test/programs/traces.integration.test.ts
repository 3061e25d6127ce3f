import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { createApi } from '../../api/app.ts';
import { QUERIES, WORKFLOW_IDS } from '../../contract/names.ts';
import { siteState } from '../../contract/site-state.ts';
import { galleyConfig } from '../../programs/config/galley-yaml.ts';
import { serve } from '../../programs/process/serve.ts';
import { startTracing, type Tracing, tracing } from '../../programs/tracing/tracing.ts';
import { createOrchestratorWorker } from '../../worker/worker.ts';
import { signToken } from '../api/sources/vendors/token.ts';
import { createFakeAdminApi } from '../helpers/admin-api/fake-admin-api.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { type ReceivedSpan, startOtlpReceiver } from '../helpers/otlp-receiver.ts';
import { replayErrors, runsOf } from '../helpers/replay.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const SECRET = 'hush-hush';
const logger = pino({ level: 'silent' });
const stops: (() => Promise<unknown>)[] = [];
let temporal: TestTemporal;
let collector: Awaited<ReturnType<typeof startOtlpReceiver>>;
let apiUrl: string;
/** The requests to the Admin API. */
const traceparents: (string | undefined)[] = [];

beforeAll(async () => {
  temporal = await connectTemporal();
  collector = await startOtlpReceiver();
  const traces = await openTraces();
  const adminApi = await startAdminApi(traces);
  const folder = await mkdtemp(join(tmpdir(), 'galley-traces-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const config = galleyConfig.parse({
    adminApi: { url: adminApi, key: 'galley_test' },
    sites: {
      docs: {
        domain: 'docs.example.com',
        webhooks: { token: { secret: SECRET } },
        export: { quietPeriod: '4s', deployments: [{ valuesFile: join(folder, 'values.yaml') }] },
      },
    },
  });
  const { nativeConnection, namespace } = temporal;
  const { connection } = temporal.client;
  const client = new Client({ connection, namespace, interceptors: { workflow: [traces.client] } });
  const worker = await createOrchestratorWorker({
    ...{
      connection: nativeConnection,
      client,
      namespace,
      logger,
      searchAttributes: false,
      minRefreshIntervalMs: 1_000,
    },
    ...{ adminApi: config.adminApi, readSite: () => config.sites.docs },
    workflowBundle: workflowBundles.traced,
    tracing: traces.worker,
  });
  stops.push(runWorker(worker).stop);
  const app = createApi({
    ...{ client, config, operatorToken: undefined, logger, temporalReady: () => true },
    // A busy machine must not turn a 202 into a 503.
    deliveryDeadlineMs: 60_000,
    traceparent: traces.current,
  });
  const served = await serve(traces.server(app, { trusted: false }), { host: '127.0.0.1', port: 0, variable: 'PORT' });
  stops.push(served.stop);
  apiUrl = served.url;
});

afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
  await collector.close();
  await temporal.stop();
});

async function openTraces(): Promise<Tracing> {
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  process.env.OTEL_BSP_SCHEDULE_DELAY = '100';
  await startTracing({ traces: true }, 'test', { onStop: (_name, stop) => void stops.push(stop) });
  const traces = tracing();
  if (traces === undefined) throw new Error('no traces');
  return traces;
}

/** The platform: it continues the traces of its callers. */
async function startAdminApi(traces: Tracing): Promise<string> {
  const fake = createFakeAdminApi({ key: 'galley_test' });
  const traced = traces.server(
    async (request, response) => {
      traceparents.push([request.headers.traceparent].flat()[0]);
      await fake.handle(request, response, await text(request));
    },
    { trusted: true },
  );
  const { origin, close } = await startHttpSite(traced);
  stops.push(close);
  traces.propagateTo(origin);
  return origin;
}

async function deliver(title: string, headers: Record<string, string> = {}): Promise<void> {
  const body = JSON.stringify({ title });
  const signed = signToken({ secret: SECRET, body, path: '', at: new Date() });
  const response = await fetch(`${apiUrl}/webhooks/docs/token`, {
    method: 'POST',
    headers: { ...signed, ...headers },
    body,
  });
  expect(response.status).toBe(202);
}

async function untilExported(jobs: number): Promise<void> {
  const handle = temporal.client.workflow.getHandle(WORKFLOW_IDS.exportSite('docs'));
  await waitFor(
    async () => siteState.parse(await handle.query(QUERIES.state)).phase === 'live' && exportsOf().length >= jobs,
    { describe: `exported ${jobs}` },
  );
}

const named = (name: string): ReceivedSpan[] => collector.spans.filter((span) => span.name === name);
const webhooks = () => named('POST /webhooks/:site/:source');
const exportsOf = () => named('export');

test('a publish is one trace from its webhook to the platform, through the signal, the workflow and its activities', async () => {
  const foreign = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await deliver('First', { traceparent: foreign });
  await untilExported(1);
  await waitFor(() => named('deploy').length > 0 && webhooks().length > 0, {
    describe: 'sent spans',
  });
  const [webhook] = webhooks();
  const [workflow] = exportsOf();
  const [deploy] = named('deploy');
  const trace = collector.spans.filter(({ traceId }) => traceId === webhook?.traceId);
  // A sender may claim any trace, so it is only linked.
  expect(webhook).toMatchObject({ parentSpanId: '', links: [{ traceId: foreign.split('-')[1] }] });
  expect(webhook?.attributes).toMatchObject({ 'http.response.status_code': '202' });
  expect(workflow).toMatchObject({ traceId: webhook?.traceId, parentSpanId: webhook?.spanId, service: 'galley-test' });
  const parents = Object.fromEntries(trace.map(({ name, parentSpanId }) => [name, parentSpanId]));
  expect(parents).toMatchObject({
    'signal exportSite': webhook?.spanId,
    'activity startExport': workflow?.spanId,
    'activity pollExport': workflow?.spanId,
    'activity createBundle': workflow?.spanId,
    deploy: webhook?.spanId,
    'activity writeDeployment': deploy?.spanId,
  });
  // The platform's own spans, through the header of the requests.
  const startExport = trace.find(({ name }) => name === 'activity startExport');
  expect(trace.filter(({ name }) => name === 'POST').map(({ parentSpanId }) => parentSpanId)).toContain(
    startExport?.spanId,
  );
  expect(traceparents).toContain(`00-${webhook?.traceId}-${startExport?.spanId}-01`);
});

test('a burst of publishes is one export, in the trace of the first and linked to the others', async () => {
  const before = webhooks().length;
  await Promise.all(['One', 'Two', 'Three'].map((title) => deliver(title)));
  await untilExported(2);
  await waitFor(() => webhooks().length === before + 3, { describe: 'sent the spans of the burst' });
  const burst = webhooks()
    .slice(before)
    .map(({ traceId }) => traceId);
  const second = exportsOf().at(-1);
  const linked = second?.links.map(({ traceId }) => traceId) ?? [];
  expect([second?.traceId, ...linked].sort()).toEqual(burst.toSorted());
  expect(exportsOf()).toHaveLength(2);
});

test('a refresh long after a publish is in no trace', async () => {
  const handle = temporal.client.workflow.getHandle(WORKFLOW_IDS.exportSite('docs'));
  const before = traceparents.length;
  await handle.executeUpdate('refreshNow');
  expect(traceparents.slice(before)).toEqual([undefined]);
});

test('its history replays without traces', async () => {
  const runs = await runsOf(temporal.client, WORKFLOW_IDS.exportSite('docs'));
  expect(await replayErrors(workflowBundles.orchestrator, runs)).toEqual(runs.map(() => undefined));
});
