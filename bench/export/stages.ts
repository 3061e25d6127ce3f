import type { Client } from '@temporalio/client';

/** Seconds of a job by activity, in order of start. `between` is the time outside all activities. */
export type Stages = Readonly<Record<string, number>>;

type Span = { name: string; fromMs: number; toMs: number };

/**
 * Reads from the workflow's history how long each activity took, from scheduling to end, including Temporal's overhead.
 * Overlapping activities with the same name count once.
 */
export async function readStages(client: Client, jobId: string): Promise<Stages> {
  const { events } = await client.workflow.getHandle(jobId).fetchHistory();
  const all = (events ?? []).map((event) => ({ ...event, ms: millis(event.eventTime) }));
  const open = new Map<string, Span>();
  const spans: Span[] = [];
  for (const event of all) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const ended = event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes;
    if (scheduled) {
      open.set(String(event.eventId), { name: scheduled.activityType?.name ?? '', fromMs: event.ms, toMs: event.ms });
    } else if (ended) {
      const span = open.get(String(ended.scheduledEventId));
      if (span) spans.push({ ...span, toMs: event.ms });
    }
  }
  const stages: Record<string, number> = {};
  for (const { name } of spans) stages[name] ??= coveredMs(spans.filter((span) => span.name === name)) / 1_000;
  const wholeMs = (all.at(-1)?.ms ?? 0) - (all[0]?.ms ?? 0);
  return { ...stages, between: Math.max(0, wholeMs - coveredMs(spans)) / 1_000 };
}

/** How long at least one of the spans was open. */
function coveredMs(spans: readonly Span[]): number {
  let covered = 0;
  let untilMs = Number.NEGATIVE_INFINITY;
  for (const { fromMs, toMs } of [...spans].sort((one, other) => one.fromMs - other.fromMs)) {
    covered += Math.max(0, toMs - Math.max(fromMs, untilMs));
    untilMs = Math.max(untilMs, toMs);
  }
  return covered;
}

type Timestamp = { seconds?: { toString(): string } | null; nanos?: number | null };

function millis(time: Timestamp | null | undefined): number {
  return Number(time?.seconds?.toString() ?? 0) * 1_000 + (time?.nanos ?? 0) / 1e6;
}

export function stagesText(stages: Stages): string {
  return Object.entries(stages)
    .map(([name, seconds]) => `${name} ${seconds.toFixed(2)}`)
    .join(', ');
}
