import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { changesOfSite, SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from '../contract/names.ts';

const CHANGES = `WorkflowType = '${WORKFLOW_TYPES.agentChange}'`;
const RUNNING = ` AND ExecutionStatus = 'Running'`;

type Lookup = {
  client: Client;
  /** Whether the namespace has our search attributes. */
  byAttribute: boolean;
  /** Also changes that have ended. */
  ended?: boolean;
};

/**
 * The ids of a site's changes with a pull request, by default of the running ones. Only changes of this site count, because a
 * sender may put any URL into its delivery. If the search attribute finds none, the memos are read: a change has no attribute
 * if its URL is too long for one, or if its worker had none yet.
 */
export async function findChanges(
  { client, byAttribute, ended = false }: Lookup,
  site: string,
  url: string,
): Promise<string[]> {
  // No forge's URL holds a character that needs quoting in a query.
  if (/['"\\\s]/.test(url)) return [];
  const ofSite = changesOfSite(site);
  const which = ended ? CHANGES : CHANGES + RUNNING;
  if (byAttribute) {
    const marked = await listChanges(client, `${which} AND ${SEARCH_ATTRIBUTES.pullRequest} = '${url}'`);
    const ids = marked.flatMap(({ workflowId }) => (workflowId.startsWith(ofSite) ? [workflowId] : []));
    if (ids.length > 0) return ids;
  }
  const all = await listChanges(client, `${which} AND WorkflowId STARTS_WITH '${ofSite}'`);
  return all.flatMap(({ workflowId, memo }) => (memo?.prLink === url ? [workflowId] : []));
}

async function listChanges(client: Client, query: string): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = [];
  for await (const each of client.workflow.list({ query })) found.push(each);
  return found;
}
