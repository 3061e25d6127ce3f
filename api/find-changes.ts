import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { changesOfSite, SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from '../contract/names.ts';

const RUNNING_CHANGES = `WorkflowType = '${WORKFLOW_TYPES.agentChange}' AND ExecutionStatus = 'Running'`;

export type Lookup = {
  client: Client;
  /** Whether the namespace has our search attributes. */
  byAttribute: boolean;
};

/**
 * The ids of a site's running changes that wait for a pull request. Whoever signs one site's deliveries must not reach
 * another's changes, whatever address is in them. Where the search attribute finds none, the memos of the site's changes
 * are read: a change lacks the attribute where its address is too long for one, or its worker wasn't ready for any.
 */
export async function findChanges({ client, byAttribute }: Lookup, site: string, url: string): Promise<string[]> {
  // What would have to be quoted is in no address that a forge makes.
  if (/['"\\\s]/.test(url)) return [];
  const ofSite = changesOfSite(site);
  if (byAttribute) {
    const marked = await listChanges(client, `${SEARCH_ATTRIBUTES.pullRequest} = '${url}'`);
    const ids = marked.flatMap(({ workflowId }) => (workflowId.startsWith(ofSite) ? [workflowId] : []));
    if (ids.length > 0) return ids;
  }
  const all = await listChanges(client, `WorkflowId STARTS_WITH '${ofSite}'`);
  return all.flatMap(({ workflowId, memo }) => (memo?.prLink === url ? [workflowId] : []));
}

async function listChanges(client: Client, mark: string): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = [];
  for await (const each of client.workflow.list({ query: `${RUNNING_CHANGES} AND ${mark}` })) found.push(each);
  return found;
}
