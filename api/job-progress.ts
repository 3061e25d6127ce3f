import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { LoadedDataConverter, Payload } from '@temporalio/common';
import { z } from 'zod';
import type { SiteState } from '../contract/site-state.ts';

const heartbeat = z
  .object({ percent: z.number().nullable().catch(null), pageCount: z.number().nullable().catch(null) })
  .refine(({ percent, pageCount }) => percent !== null || pageCount !== null);

/**
 * The running export's progress as its polling activity last told it: the details of a pending activity's heartbeat,
 * which outlive the attempt that sent them. Null where nothing is exported or nothing was told yet, and where it was
 * encrypted with a key that this process doesn't have: the rest of a site's state is worth telling without it.
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
