import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The receiver's metrics. Labels are configured names and fixed words, so that their number is limited. */
export type ReceiverMetrics = {
  delivery: (labels: { site: string; source: string; outcome: 'accepted' | 'filtered' | 'unavailable' }) => void;
  /** `site` and `source` are "any" if the URL names none that is configured. */
  reject: (labels: { site: string; source: string; reason: string }) => void;
  repeat: (labels: { site: string; source: string }) => void;
  signal: (labels: { outcome: 'acknowledged' | 'failed' }, seconds: number, deliveries: number) => void;
};

/** A registry with the metrics of the process: memory, CPU, event loop, garbage collection, open files. */
export function processMetrics(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
}

export function createReceiverMetrics(registry: Registry, queueSize: () => number): ReceiverMetrics {
  const registers = [registry];
  const deliveries = new Counter({
    name: 'galley_webhook_deliveries_total',
    help: 'Verified deliveries by outcome.',
    labelNames: ['site', 'source', 'outcome'],
    registers,
  });
  const rejects = new Counter({
    name: 'galley_webhook_rejects_total',
    help: 'Rejected deliveries by reason.',
    labelNames: ['site', 'source', 'reason'],
    registers,
  });
  const repeats = new Counter({
    name: 'galley_webhook_repeats_total',
    help: 'Resends: deliveries that this process had accepted before.',
    labelNames: ['site', 'source'],
    registers,
  });
  const latency = new Histogram({
    name: 'galley_signal_seconds',
    help: 'Time until a signal was acknowledged by Temporal, or failed.',
    labelNames: ['outcome'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5],
    registers,
  });
  const carried = new Counter({
    name: 'galley_signalled_deliveries_total',
    help: 'Deliveries in acknowledged signals.',
    registers,
  });
  new Gauge({
    name: 'galley_webhook_queue_size',
    help: 'Verified deliveries that wait for a signal.',
    registers,
    collect() {
      this.set(queueSize());
    },
  });
  return {
    delivery: (labels) => deliveries.inc(labels),
    reject: (labels) => rejects.inc(labels),
    repeat: (labels) => repeats.inc(labels),
    signal: (labels, seconds, count) => {
      latency.observe(labels, seconds);
      if (labels.outcome === 'acknowledged') carried.inc(count);
    },
  };
}
