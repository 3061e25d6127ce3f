import express from 'express';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { freePort } from '../../embedded/ports.ts';
import type { Lifetime } from '../process/lifetime.ts';
import { serve } from '../process/serve.ts';
import type { Settings } from '../settings/environment.ts';

/** The metrics and probes of a program that runs workers. */
export interface WorkerMetrics {
  /** The URL of the server, without a trailing slash. */
  url: string;
  /** host:port on loopback where the Temporal SDK's exporter has to listen (programs/temporal/runtime.ts). */
  sdkAddress: string;
  /** Adds a worker to what `/-/readyz` checks. */
  track(worker: TrackedWorker): void;
}

interface TrackedWorker {
  name: string;
  isPolling(): boolean;
  /** Whether Temporal responds now. */
  temporalReady(): Promise<boolean>;
}

/** One per process, like the SDK's runtime. */
let active: WorkerMetrics | undefined;

/** Undefined without METRICS_PORT. */
export function workerMetrics(): WorkerMetrics | undefined {
  return active;
}

/** The part of a worker's line `ready …` that names the metrics' URL. */
export function metricsPart(): string {
  return active === undefined ? '' : ` metrics ${active.url}`;
}

/** A scrape must not wait longer for the SDK's exporter, which listens on loopback. */
const SDK_DEADLINE_MS = 2_000;

/**
 * Serves `/metrics`, `/-/healthz` and `/-/readyz` on METRICS_PORT until the lifetime ends; does nothing without it.
 * @throws PortUnavailable if the port can't be listened on.
 */
export async function startWorkerMetrics(
  { host, metricsPort }: Pick<Settings, 'host' | 'metricsPort'>,
  lifetime: Pick<Lifetime, 'onStop'>,
): Promise<WorkerMetrics | undefined> {
  if (metricsPort === undefined) return undefined;
  const sdkPort = await freePort({ host: '127.0.0.1', port: 0, variable: 'METRICS_PORT' });
  const sdkAddress = `127.0.0.1:${sdkPort}`;
  const tracked: TrackedWorker[] = [];
  const app = createMetricsApp(sdkAddress, tracked);
  const local = { publicUrl: undefined, variable: 'HOST' };
  const { url, stop } = await serve(app, { host, port: metricsPort, variable: 'METRICS_PORT', local });
  active = { url, sdkAddress, track: (worker) => void tracked.push(worker) };
  lifetime.onStop('metrics server', async () => {
    active = undefined;
    await stop();
  });
  return active;
}

function createMetricsApp(sdkAddress: string, tracked: readonly TrackedWorker[]): express.Express {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use((_request, response, next) => {
    response.set('Cache-Control', 'no-store');
    next();
  });
  app.get('/metrics', async (_request, response) => {
    const [own, sdk] = await Promise.all([register.metrics(), scrapeSdk(sdkAddress)]);
    response.type(register.contentType).send(`${own}\n${sdk}`);
  });
  app.get('/-/healthz', (_request, response) => {
    response.json({ ok: true });
  });
  app.get('/-/readyz', async (_request, response) => {
    const problem = await unready(tracked);
    if (problem === null) response.json({ ok: true });
    else response.status(503).json({ error: problem });
  });
  app.use(({ path }, response) => {
    response.status(404).json({ error: `there is no ${path}` });
  });
  return app;
}

/** Empty before the SDK's runtime is installed: the rest of the metrics is still worth a scrape. */
async function scrapeSdk(address: string): Promise<string> {
  try {
    const response = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(SDK_DEADLINE_MS) });
    return response.ok ? await response.text() : '';
  } catch {
    return '';
  }
}

/** Why the workers aren't ready; null if they are. */
async function unready(tracked: readonly TrackedWorker[]): Promise<string | null> {
  const waiting = tracked.filter((worker) => !worker.isPolling()).map(({ name }) => name);
  if (tracked.length === 0 || waiting.length > 0) return `not polling yet: ${waiting.join(', ') || 'any worker'}`;
  const [first] = tracked;
  return (await first?.temporalReady()) ? null : 'Temporal does not respond';
}
