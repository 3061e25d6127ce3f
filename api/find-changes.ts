import type { Client } from '@temporalio/client';
import { changesOfSite, SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from '../contract/names.ts';

const RUNNING_CHANGES = `WorkflowType = '${WORKFLOW_TYPES.agentChange}' AND ExecutionStatus = 'Running'`;

/**
 * The ids of a site's running changes that wait for a pull request. Whoever signs one site's deliveries must not reach
 * another's changes, whatever address is in them. Without our search attributes the changes' memos are read instead.
 */
export async function findChanges(
  { client, byAttribute }: { client: Client; byAttribute: boolean },
  site: string,
  url: string,
): Promise<string[]> {
  // What would have to be quoted is in no address that a forge makes.
  if (/['"\\\s]/.test(url)) return [];
  const ofSite = changesOfSite(site);
  const mark = byAttribute ? `${SEARCH_ATTRIBUTES.pullRequest} = '${url}'` : `WorkflowId STARTS_WITH '${ofSite}'`;
  const ids: string[] = [];
  for await (const { workflowId, memo } of client.workflow.list({ query: `${RUNNING_CHANGES} AND ${mark}` })) {
    if (workflowId.startsWith(ofSite) && (byAttribute || memo?.prLink === url)) ids.push(workflowId);
  }
  return ids;
}
