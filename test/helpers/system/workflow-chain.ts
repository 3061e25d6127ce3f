import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { SIGNALS } from '../../../contract/names.ts';
import { type PublishedSignal, publishedSignal } from '../../../contract/publish-event.ts';
import { waitFor } from './wait-for.ts';

export interface ChainRun {
  runId: string;
  /** Events in its history. */
  events: number;
  /** The `published` signals in it, oldest first. */
  signals: PublishedSignal[];
}

/**
 * The runs of a workflow that continued as new, oldest first, from their histories. Signals that arrive during a workflow
 * task are in the history only when it has ended, so it waits for that.
 */
export async function workflowChain(client: Client, workflowId: string): Promise<ChainRun[]> {
  const { raw } = await waitFor(
    async () => {
      const described = await client.workflow.getHandle(workflowId).describe();
      return !described.raw.pendingWorkflowTask?.startedTime && described;
    },
    { describe: `has no workflow task of ${workflowId}` },
  );
  const runs: ChainRun[] = [];
  let runId = raw.workflowExecutionInfo?.firstRunId;
  while (runId) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const signals = (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => {
      const payload = signal?.input?.payloads?.[0];
      if (signal?.signalName !== SIGNALS.published || !payload) return [];
      return [publishedSignal.parse(defaultPayloadConverter.fromPayload(payload))];
    });
    runs.push({ runId, events: events?.length ?? 0, signals });
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return runs;
}
