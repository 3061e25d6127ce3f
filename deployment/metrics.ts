import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { FileCache } from './serve/file-cache.ts';
import type { DeploymentStatus } from './status.ts';

/** The metrics of a process, whose deployments differ in the label `host`. */
export type DeploymentMetrics = {
  /** @param host as in `--values HOST=FILE`, or `*` */
  add(host: string, status: () => DeploymentStatus): { countResponse(status: number): void; countSwap(): void };
  contentType: string;
  render(): Promise<string>;
};

type Watched = { host: string; status: () => DeploymentStatus; responses: Map<number, number>; swaps: number };

/**
 * Responses are counted in plain numbers and only become metrics when someone reads them: a counter with labels costs
 * more than a small response.
 */
export function createDeploymentMetrics(cache: FileCache): DeploymentMetrics {
  const all: Watched[] = [];
  let registry: Registry | undefined;

  return {
    add(host, status) {
      const watched: Watched = { host, status, responses: new Map(), swaps: 0 };
      all.push(watched);
      return {
        countResponse: (code) => void watched.responses.set(code, (watched.responses.get(code) ?? 0) + 1),
        countSwap() {
          watched.swaps += 1;
        },
      };
    },
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    async render() {
      registry ??= createRegistry(all, cache);
      return await registry.metrics();
    },
  };
}

function createRegistry(all: readonly Watched[], cache: FileCache): Registry {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counters = { registers, labelNames: ['host'] };
  new Counter({
    name: 'galley_deployment_requests_total',
    help: 'Responses by status; the status 0 is a client that disconnected before the response.',
    labelNames: ['host', 'status'],
    registers,
    collect() {
      this.reset();
      for (const { host, responses } of all) {
        for (const [status, count] of responses) this.inc({ host, status }, count);
      }
    },
  });
  new Counter({
    ...counters,
    name: 'galley_deployment_swaps_total',
    help: 'Changes of the served version.',
    collect() {
      this.reset();
      for (const { host, swaps } of all) this.inc({ host }, swaps);
    },
  });
  const gauge = (name: string, help: string, value: (status: DeploymentStatus) => number | null): void => {
    new Gauge({
      ...counters,
      name,
      help,
      collect() {
        this.reset();
        for (const { host, status } of all) {
          const now = value(status());
          // A time that is unknown is missing: 0 would be the year 1970.
          if (now !== null) this.set({ host }, now);
        }
      },
    });
  };
  gauge('galley_deployment_serving', '1 if it serves a version.', ({ state }) => Number(state === 'serving'));
  gauge('galley_deployment_off', '1 if the values file switched it off.', ({ state }) => Number(state === 'off'));
  gauge('galley_deployment_stale', "1 if it doesn't serve what the values file asks for.", ({ stale }) =>
    Number(stale),
  );
  gauge('galley_deployment_failing', '1 if the last attempt to update failed.', ({ lastError }) =>
    Number(lastError !== null),
  );
  gauge('galley_deployment_pages', 'Pages of the served version.', ({ pageCount }) => pageCount);
  gauge('galley_deployment_since_timestamp_seconds', 'When it began to serve this version.', ({ since }) =>
    secondsOf(since),
  );
  gauge(
    'galley_deployment_checked_timestamp_seconds',
    'When the served version last matched the values file.',
    ({ checkedAt }) => secondsOf(checkedAt),
  );
  addVersion(registry, all);
  new Gauge({
    name: 'galley_deployment_cache_bytes',
    help: 'Contents of files in memory.',
    registers,
    collect() {
      this.set(cache.sizeBytes());
    },
  });
  return registry;
}

function addVersion(registry: Registry, all: readonly Watched[]): void {
  new Gauge({
    name: 'galley_deployment_info',
    help: 'Always 1: the served version is a label.',
    labelNames: ['host', 'domain', 'version', 'job_id', 'kind'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { host, status } of all) {
        const { domain, version, jobId, kind } = status();
        if (domain === null || version === null || jobId === null) continue;
        this.set({ host, domain, version, job_id: jobId, kind }, 1);
      }
    },
  });
}

function secondsOf(time: string | null): number | null {
  return time === null ? null : Date.parse(time) / 1_000;
}
