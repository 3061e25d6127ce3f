import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { SEARCH_ATTRIBUTES, WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import { type ListedSite, SITE_MEMO, type SiteMemo, siteMemo, sitePhase } from '../../contract/site-state.ts';

/** The largest page that Temporal gives, so that 10,000 sites take 10 calls. */
const PAGE_SIZE = 1_000;

const phaseKey = defineSearchAttributeKey(SEARCH_ATTRIBUTES.phase, SearchAttributeType.KEYWORD);
const linkKey = defineSearchAttributeKey(SEARCH_ATTRIBUTES.linkExpiresAt, SearchAttributeType.DATETIME);

/** Lists all sites with a workflow by one visibility query, without asking any workflow. */
export async function listSites(client: Client): Promise<ListedSite[]> {
  const query = `WorkflowType = '${WORKFLOW_TYPES.exportSite}' AND ExecutionStatus = 'Running'`;
  const sites: ListedSite[] = [];
  for await (const info of client.workflow.list({ query, pageSize: PAGE_SIZE })) sites.push(listedSite(info));
  return sites;
}

function listedSite({ workflowId, memo, typedSearchAttributes }: WorkflowExecutionInfo): ListedSite {
  const site = workflowId.slice(WORKFLOW_IDS.exportSite('').length);
  const parsed = siteMemo.safeParse(memo?.[SITE_MEMO]);
  const known = parsed.success ? parsed.data : undefined;
  const phase = sitePhase.safeParse(typedSearchAttributes.get(phaseKey));
  return {
    site,
    phase: phase.success ? phase.data : known?.phase,
    linkExpiresAtMs: typedSearchAttributes.get(linkKey)?.getTime() ?? msOf(known?.linkExpiresAt),
    refreshDueAtMs: msOf(known?.refreshDueAt),
    servedPublishAtMs: msOf(known?.servedPublishAt),
    oldestUnserved: unservedOf(known),
  };
}

function unservedOf(memo: SiteMemo | undefined): ListedSite['oldestUnserved'] {
  const atMs = msOf(memo?.oldestUnserved?.at);
  if (atMs === null || !memo?.oldestUnserved) return null;
  return { atMs, reason: memo.oldestUnserved.reason };
}

function msOf(time: string | null | undefined): number | null {
  const ms = time == null ? Number.NaN : Date.parse(time);
  return Number.isNaN(ms) ? null : ms;
}
