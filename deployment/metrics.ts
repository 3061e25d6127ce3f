import type { RequestHandler } from 'express';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { DeploymentStatus } from './status.ts';

export type DeploymentMetrics = {
  /** Counts responses. Mount it first. */
  count: RequestHandler;
  /** `/-/metrics` as Prometheus text. */
  expose: RequestHandler;
};

/** The metrics of one deployment: what it serves, whether that is what the values file asks for, and responses. */
export function createDeploymentMetrics(status: () => DeploymentStatus): DeploymentMetrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const requests = new Counter({
    name: 'galley_deployment_requests_total',
    help: 'Responses by status; the status 0 is a client that disconnected first.',
    labelNames: ['status'],
    registers: [register],
  });
  addStatusGauges(register, status);
  return {
    count(_request, response, next) {
      response.once('close', () => {
        requests.inc({ status: response.writableFinished ? response.statusCode : 0 });
      });
      next();
    },
    async expose(_request, response) {
      response.type(register.contentType).send(await register.metrics());
    },
  };
}

function addStatusGauges(register: Registry, status: () => DeploymentStatus): void {
  const gauge = (name: string, help: string, read: (status: DeploymentStatus) => number | null): void => {
    new Gauge({
      name: `galley_deployment_${name}`,
      help,
      registers: [register],
      collect() {
        const value = read(status());
        // A time that is unknown is missing: 0 would be the year 1970.
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  };
  gauge('serving', '1 if it serves a version.', ({ state }) => Number(state === 'serving'));
  gauge('off', '1 if the values file switched it off.', ({ state }) => Number(state === 'off'));
  gauge('stale', "1 if it doesn't serve what the values file asks for.", ({ stale }) => Number(stale));
  gauge('pages', 'Pages of the served version.', ({ pageCount }) => pageCount);
  gauge('since_timestamp_seconds', 'When it began to serve this version.', ({ since }) => secondsOf(since));
  gauge('checked_timestamp_seconds', 'When the served version last matched the values file.', ({ checkedAt }) =>
    secondsOf(checkedAt),
  );
  new Gauge({
    name: 'galley_deployment_info',
    help: 'Always 1; the labels are the domain and the version that it serves.',
    labelNames: ['domain', 'version'],
    registers: [register],
    collect() {
      const { domain, version } = status();
      this.reset();
      if (domain !== null && version !== null) this.set({ domain, version }, 1);
    },
  });
}

function secondsOf(time: string | null): number | null {
  return time === null ? null : Date.parse(time) / 1000;
}
