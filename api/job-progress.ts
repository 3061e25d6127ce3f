import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { LoadedDataConverter, Payload } from '@temporalio/common';
import { z } from 'zod';
import type { SiteState } from '../contract/site-state.ts';

const heartbeat = z
  .object({ percent: z.number().nullable().catch(null), pageCount: z.number().nullable().catch(null) })
  .refine(({ percent, pageCount }) => percent !== null || pageCount !== null);

/**
 * The running export's progress, from the last heartbeat of its polling activity, which outlives the attempt that sent
 * it. Null if there is no export or no heartbeat yet, or if this process lacks the key to decrypt it: the rest of the
 * state is still useful.
 */
export async function readJobProgress(
  { raw }: Pick<WorkflowExecutionDescription, 'raw'>,
  { payloadCodecs, payloadConverter }: LoadedDataConverter,
): Promise<SiteState['progress']> {
  const read = async (encoded: Payload[]): Promise<unknown> => {
    let payloads = encoded;
    for (const codec of [...payloadCodecs].reverse()) payloads = await codec.decode(payloads);
    const [first] = payloads;
    return first && payloadConverter.fromPayload<unknown>(first);
  };
  for (const { heartbeatDetails } of raw.pendingActivities ?? []) {
    const progress = heartbeat.safeParse(await read(heartbeatDetails?.payloads ?? []).catch(() => undefined));
    if (progress.success) return progress.data;
  }
  return null;
}
