import { setTimeout as sleep } from 'node:timers/promises';
import type { Express } from 'express';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { countActiveJobs } from '../store/active-jobs.ts';
import type { Database } from '../store/database.ts';
import { addRoute } from './add-route.ts';

/** A scrape must not wait longer for the database. */
const COUNT_DEADLINE_MS = 2_000;

/**
 * `/metrics`: requests by route and status, jobs, process metrics, and what the registry has already. Mount it before the
 * routes that it counts.
 */
export function addMetrics(app: Express, db: Database, register = new Registry()): void {
  collectDefaultMetrics({ register });
  const requests = new Counter({
    name: 'galley_platform_requests_total',
    help: 'Requests by route and status; the status 0 is a client that disconnected before the response.',
    labelNames: ['method', 'route', 'status'],
    registers: [register],
  });
  const seconds = new Histogram({
    name: 'galley_platform_request_seconds',
    help: 'Time until the response was sent.',
    labelNames: ['route'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [register],
  });
  addJobGauge(register, db);
  app.use((request, response, next) => {
    const end = seconds.startTimer();
    response.once('close', () => {
      // The route's pattern, never the path: the number of labels must not grow with the requests.
      const route: unknown = request.route?.path;
      const label = typeof route === 'string' ? route : 'none';
      end({ route: label });
      requests.inc({
        method: request.method,
        route: label,
        status: response.writableFinished ? response.statusCode : 0,
      });
    });
    next();
  });
  addRoute(app, '/metrics', {
    get: async (_request, response) => {
      response.type(register.contentType).send(await register.metrics());
    },
  });
}

/** Missing while the database doesn't respond. */
function addJobGauge(register: Registry, db: Database): void {
  new Gauge({
    name: 'galley_platform_jobs',
    help: "Jobs that haven't ended, by kind and status.",
    labelNames: ['kind', 'status'],
    registers: [register],
    async collect() {
      const counted = countActiveJobs(db).catch(() => []);
      const jobs = await Promise.race([counted, sleep(COUNT_DEADLINE_MS, [], { ref: false })]);
      this.reset();
      for (const each of jobs) this.set({ kind: each.kind, status: each.status }, each.jobs);
    },
  });
}
