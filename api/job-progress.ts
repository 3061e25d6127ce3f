import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import { z } from 'zod';
import type { SiteState } from '../contract/site-state.ts';

const heartbeat = z
  .object({ percent: z.number().nullable().catch(null), pageCount: z.number().nullable().catch(null) })
  .refine(({ percent, pageCount }) => percent !== null || pageCount !== null);

/**
 * The running export's progress as its polling activity last told it: the details of a pending activity's heartbeat,
 * which outlive the attempt that sent them. Null where nothing is exported or nothing was told yet.
 */
export async function readJobProgress(
  { raw }: WorkflowExecutionDescription,
  { payloadCodecs, payloadConverter }: LoadedDataConverter,
): Promise<SiteState['progress']> {
  for (const { heartbeatDetails } of raw.pendingActivities ?? []) {
    let payloads = heartbeatDetails?.payloads ?? [];
    for (const codec of [...payloadCodecs].reverse()) payloads = await codec.decode(payloads);
    const [first] = payloads;
    const progress = heartbeat.safeParse(first && payloadConverter.fromPayload<unknown>(first));
    if (progress.success) return progress.data;
  }
  return null;
}
