import type { Client } from '@temporalio/client';
import { Gauge, type Registry } from 'prom-client';

/** temporal.api.enums.v1.TaskQueueType. */
const TASK_TYPES = { workflow: 1, activity: 2 } as const;

/** A scrape must not wait longer. */
const DEADLINE_MS = 2_000;

type QueueMetricsDeps = {
  client: Client;
  namespace: string;
  /** Task queues and the types of tasks that their workers poll for. */
  queues: readonly { name: string; types: readonly (keyof typeof TASK_TYPES)[] }[];
};

/**
 * Adds gauges of task queues: tasks that wait for a worker, for how long the oldest has waited, and pollers. While Temporal
 * doesn't respond, they are missing.
 */
export function addQueueMetrics(registry: Registry, { client, namespace, queues }: QueueMetricsDeps): void {
  let reading: Promise<void> | undefined;
  const gauge = (name: string, help: string): Gauge<'queue' | 'type'> =>
    new Gauge({
      name,
      help,
      labelNames: ['queue', 'type'],
      registers: [registry],
      // All gauges of a scrape share one reading.
      collect: async () => {
        reading ??= read().finally(() => {
          reading = undefined;
        });
        await reading;
      },
    });
  const backlog = gauge('galley_task_queue_backlog', 'Tasks that wait for a worker, approximately.');
  const age = gauge('galley_task_queue_backlog_age_seconds', 'How long the oldest of them has waited.');
  const pollers = gauge('galley_task_queue_pollers', 'Pollers in the last minutes; 0: no worker runs.');

  async function read(): Promise<void> {
    for (const each of [backlog, age, pollers]) each.reset();
    const reads = queues.flatMap(({ name, types }) => types.map((type) => readQueue(name, type)));
    await Promise.allSettled(reads);
  }

  async function readQueue(queue: string, type: keyof typeof TASK_TYPES): Promise<void> {
    const request = { namespace, taskQueue: { name: queue }, taskQueueType: TASK_TYPES[type], reportStats: true };
    const response = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
      client.workflowService.describeTaskQueue(request),
    );
    const labels = { queue, type };
    pollers.set(labels, response.pollers?.length ?? 0);
    const { stats } = response;
    // Servers before 1.25 have no statistics.
    if (!stats) return;
    backlog.set(labels, Number(stats.approximateBacklogCount ?? 0));
    const { seconds, nanos } = stats.approximateBacklogAge ?? {};
    age.set(labels, Number(seconds ?? 0) + (nanos ?? 0) / 1e9);
  }
}
