/**
 * Every name that Temporal knows us by, with what it deduplicates. Clients, tests and the Temporal UI rely on these;
 * renaming one breaks running workflows.
 */

export const TASK_QUEUES = {
  /** Orchestrator workflows and their activities. */
  orchestrator: 'galley-orchestrator',
  /** The Admin API's own jobs. */
  platform: 'galley-platform',
} as const;

/**
 * Where the agents of a platform's queue run: apart from everything else, so that those that wait for a free place hold
 * up nothing.
 */
export function agentTaskQueue(platformQueue: string): string {
  return `${platformQueue}-agents`;
}

export const WORKFLOW_TYPES = {
  exportSite: 'exportSite',
  agentRule: 'agentRule',
  agentChange: 'agentChange',
  staticExportJob: 'staticExportJob',
  agentJob: 'agentJob',
} as const;

export const WORKFLOW_IDS = {
  /** One per site: two publishes of one site can never run two of these. */
  exportSite: (site: string): string => `export:${site}`,
  /** One per rule of a site: it collects that rule's events. */
  agentRule: (site: string, rule: string): string => `agent-rule:${site}:${rule}`,
  /** One per first delivery collected: a resent delivery can't prompt the agent twice. */
  agentChange: (site: string, rule: string, deliveryId: string): string =>
    `${changesOfSite(site)}${rule}:${deliveryId}`,
} as const;

/** What the ids of all of a site's changes begin with, and no other site's: no name of a site has a ":" in it. */
export function changesOfSite(site: string): string {
  return `agent:${site}:`;
}

export const SIGNALS = {
  published: 'published',
  configChanged: 'configChanged',
  pullRequestChanged: 'pullRequestChanged',
  reviewed: 'reviewed',
  /** To `agentRule`: a reviewer wants no more of this rule's mail. */
  unsubscribed: 'unsubscribed',
  /** From `agentChange` to its rule: its pull request was merged by this commit, whose push prompts nothing. */
  ownMerge: 'ownMerge',
  /** From `agentChange` to its rule: how it ended. */
  changeEnded: 'changeEnded',
} as const;

export const QUERIES = { state: 'state' } as const;

export const UPDATES = {
  exportNow: 'exportNow',
  refreshNow: 'refreshNow',
  pause: 'pause',
  resume: 'resume',
  rollback: 'rollback',
  remove: 'remove',
  cancel: 'cancel',
} as const;

export const SEARCH_ATTRIBUTES = {
  site: 'GalleySite',
  phase: 'GalleyPhase',
  version: 'GalleyVersion',
  pullRequest: 'GalleyPullRequest',
  linkExpiresAt: 'GalleyLinkExpiresAt',
} as const;
