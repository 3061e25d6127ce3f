import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { z } from 'zod';
import { QUERIES, WORKFLOW_IDS } from '../../contract/names.ts';

/** A query is answered by a worker, which may have to replay the workflow first. The attempt's time is short, though. */
const QUERY_TIMEOUT_MS = 5_000;

/** The part of the rule's state that is needed: a workflow of another release may tell more, or less. */
const ruleState = z.object({ unsubscribed: z.array(z.string()) });

export type QueryClient = Pick<Client, 'workflow' | 'withDeadline'>;

/**
 * Whether an address wants no more of a rule's mail. A rule whose workflow isn't there (any more) has heard of nobody.
 * Rejects where the workflow can't be asked at the moment: somebody who unsubscribed mustn't get a mail for that.
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
