import { workflowInfo } from '@temporalio/workflow';

/**
 * A run's history stays well below what is slow to replay; an event is a few hundred bytes. The server's own suggestion
 * comes at thousands only, and from a test server never.
 */
const LONG_HISTORY_EVENTS = 1_000;

/** Whether a run has grown so long that it goes on in a new one. */
export function isLong(): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength > LONG_HISTORY_EVENTS || continueAsNewSuggested;
}
