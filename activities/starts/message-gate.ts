import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { START_GATE, WORKFLOW_TYPES } from '../../contract/names.ts';
import type { StartMessage } from '../../contract/start-gate.ts';

/** Signals the gate of starts, which the first message starts. May be repeated. */
export function createMessageGate({ client: own }: { client?: Client | undefined }) {
  return async function messageGate({ signal, payload }: StartMessage): Promise<void> {
    const context = Context.current();
    await (own ?? context.client).workflow.signalWithStart(WORKFLOW_TYPES.startGate, {
      workflowId: START_GATE,
      taskQueue: context.info.taskQueue,
      workflowTaskTimeout: '5s',
      args: [{}],
      signal,
      signalArgs: [payload],
      staticSummary: 'Hands out the starts that the Admin API allows per hour',
    });
  };
}
