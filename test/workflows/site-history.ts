import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { z } from 'zod';

/** A link that was written to a deployment, with the times of its write and its expiry. */
export type WrittenLink = { atMs: number; expiresAtMs: number; jobId: string };

export type SiteHistory = {
  /** The number of events of each run, oldest run first. */
  runLengths: number[];
  links: WrittenLink[];
};

const write = z.object({ jobId: z.string(), bundleUrl: z.string() });
const report = z.object({ outcome: z.string() });

/** Reads every run of a site's workflow, and the links that they wrote to the deployment. */
export async function readSiteHistory(client: Client, workflowId: string): Promise<SiteHistory> {
  const runLengths: number[] = [];
  const links: WrittenLink[] = [];
  let { runId } = await client.workflow.getHandle(workflowId).describe();
  for (;;) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const list = events ?? [];
    runLengths.unshift(list.length);
    const ofRun: WrittenLink[] = [];
    for (const event of list) {
      const completed = event.activityTaskCompletedEventAttributes;
      const scheduled = list.find(({ eventId }) => completed && eventId?.eq(completed.scheduledEventId ?? 0));
      const { activityType, input } = scheduled?.activityTaskScheduledEventAttributes ?? {};
      if (activityType?.name !== 'writeDeployment') continue;
      const { jobId, bundleUrl } = write.parse(defaultPayloadConverter.fromPayload(input?.payloads?.[0] ?? {}));
      const { outcome } = report.parse(defaultPayloadConverter.fromPayload(completed?.result?.payloads?.[0] ?? {}));
      if (outcome !== 'written') continue;
      const { seconds, nanos } = event.eventTime ?? {};
      const atMs = Number(seconds) * 1000 + Math.floor((nanos ?? 0) / 1e6);
      ofRun.push({ atMs, jobId, expiresAtMs: Number(new URL(bundleUrl).searchParams.get('expires')) });
    }
    links.unshift(...ofRun);
    const before = list[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (!before) return { runLengths, links };
    runId = before;
  }
}

/** The periods in which the deployment had only an expired link, from its first link until now. */
export function gaps(links: readonly WrittenLink[], nowMs: number): { fromMs: number; toMs: number }[] {
  return links.flatMap(({ expiresAtMs }, index) => {
    const nextMs = links[index + 1]?.atMs ?? nowMs;
    return nextMs > expiresAtMs ? [{ fromMs: expiresAtMs, toMs: nextMs }] : [];
  });
}
