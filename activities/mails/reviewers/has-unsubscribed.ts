import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { z } from 'zod';
import { QUERIES, WORKFLOW_IDS } from '../../../contract/names.ts';

/** A worker answers the query and may have to replay the workflow first. The attempt has little time, though. */
const QUERY_TIMEOUT_MS = 5_000;

/** Has only the needed part of the rule's state, so that workflows of other releases can be read. */
const ruleState = z.object({ unsubscribed: z.array(z.string()) });

type QueryClient = Pick<Client, 'workflow' | 'withDeadline'>;

/**
 * Whether an address has unsubscribed from a rule's mail. False if the rule's workflow doesn't exist (any more).
 * Rejects if the query fails: Galley must not mail someone who may have unsubscribed.
 */
export async function hasUnsubscribed(
  client: QueryClient,
  { site, rule, to }: { site: string; rule: string; to: string },
): Promise<boolean> {
  const handle = client.workflow.getHandle(WORKFLOW_IDS.agentRule(site, rule));
  try {
    const state: unknown = await client.withDeadline(Date.now() + QUERY_TIMEOUT_MS, () => handle.query(QUERIES.state));
    const address = to.toLowerCase();
    return ruleState.parse(state).unsubscribed.some((each) => each.toLowerCase() === address);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
