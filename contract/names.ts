import type { Pool } from './pools.ts';
import type { TargetKind } from './target-kind.ts';

/**
 * All names that Temporal knows, with what each deduplicates. Clients, tests and the Temporal UI rely on them; renaming
 * one breaks running workflows.
 */

/**
 * The format of all state that outlives a process. Each long-running workflow marks its runs with it, as a patch, and
 * `up` its GALLEY_HOME. A build with another baseline refuses such state.
 */
export const BASELINE = '0.2.0';

export const TASK_QUEUES = {
  /** Orchestrator workflows and their activities. */
  orchestrator: 'galley-orchestrator',
  /** The Admin API's own jobs. */
  platform: 'galley-platform',
} as const;

/**
 * The queue of an orchestrator's outgoing notifications (`galley-notifications`), separate so that a target that hangs
 * delays nothing else.
 */
export function notificationTaskQueue(orchestratorQueue: string): string {
  return orchestratorQueue.replace('orchestrator', 'notifications');
}

/** The queue of a pool, such as `galley-orchestrator-admin-api`. */
export function poolTaskQueue(orchestratorQueue: string, pool: Pool): string {
  return `${orchestratorQueue}-${pool}`;
}

/**
 * The queue of the deployments of a kind on one machine's disk: only workers with `--deployment-host` of that name poll
 * it. Values files have `galley-deployments:{host}`, so that a folder that takes long doesn't delay their links.
 */
export function deploymentTaskQueue(host: string, kind: TargetKind): string {
  return `galley-deployments:${host}${kind === 'valuesFile' ? '' : `:${kind}`}`;
}

/** The queue of a platform's agents, separate so that waiting agents don't block anything else. */
export function agentTaskQueue(platformQueue: string): string {
  return `${platformQueue}-agents`;
}

/** The name of a site or an agent rule: it becomes part of ids and of queries, where it needs no quoting. */
export const SITE_NAME = /^[a-z\d][a-z\d-]{0,62}$/i;

export const WORKFLOW_TYPES = {
  exportSite: 'exportSite',
  renamedSite: 'renamedSite',
  agentRule: 'agentRule',
  agentChange: 'agentChange',
  notification: 'notification',
  watchdog: 'watchdog',
  watchdogReport: 'watchdogReport',
  staticExportJob: 'staticExportJob',
  agentJob: 'agentJob',
  startGate: 'startGate',
  collectGarbage: 'collectGarbage',
} as const;

export const WORKFLOW_IDS = {
  /** Each site has one: two of them can never run for one site. */
  exportSite: (site: string): string => `export:${site}`,
  /** Each rename has one, while webhooks of the old name are accepted. The run is the last one of the old name. */
  renamedSite: (site: string, runId: string): string => `renamed:${site}:${runId}`,
  /** Each rule of a site has one, which collects the rule's events. */
  agentRule: (site: string, rule: string): string => `agent-rule:${site}:${rule}`,
  /** Each first collected delivery has one: a resent delivery can't prompt the agent twice. */
  agentChange: (site: string, rule: string, deliveryId: string): string =>
    `${changesOfSite(site)}${rule}:${deliveryId}`,
  /** Each event has one for each target: an event that is handed over twice is delivered once. */
  notification: (site: string, eventId: string, targetHash: string): string =>
    `notify:${site}:${eventId}:${targetHash}`,
  /** Each check has one: its news is mailed once. */
  watchdogReport: (check: string): string => `${check}:report`,
} as const;

/** The id of the workflow that hands out starts: there is one per namespace. */
export const START_GATE = 'galley-start-gate';

/** The schedule of the watchdog, and the start of its workflows' ids: there is one per namespace. */
export const WATCHDOG_SCHEDULE = 'galley-watchdog';

/** The schedule that deletes what a platform no longer keeps, and the start of its workflows' ids. */
export const GARBAGE_SCHEDULE = 'galley-gc';

/** The id prefix of all changes of one site. Unambiguous, because site names have no ":". */
export function changesOfSite(site: string): string {
  return `agent:${site}:`;
}

export const SIGNALS = {
  published: 'published',
  configChanged: 'configChanged',
  pullRequestChanged: 'pullRequestChanged',
  reviewed: 'reviewed',
  /** Tells `exportSite` what an operator did to one of the site's rules, for its history. */
  acted: 'acted',
  /** Tells `agentRule` that a reviewer has unsubscribed from this rule's mail. */
  unsubscribed: 'unsubscribed',
  /** `agentChange` tells its rule which commit merged its pull request; its push must not prompt. */
  ownMerge: 'ownMerge',
  /** `agentChange` tells its rule how it ended. */
  changeEnded: 'changeEnded',
  /** A site asks `startGate` for a start. */
  requested: 'requested',
  /** A site tells `startGate` what became of its start. */
  ended: 'ended',
  /** `startGate` gives `exportSite` a start. */
  startGranted: 'startGranted',
} as const;

export const QUERIES = { state: 'state', queue: 'queue' } as const;

export const UPDATES = {
  exportNow: 'exportNow',
  refreshNow: 'refreshNow',
  pause: 'pause',
  resume: 'resume',
  rollback: 'rollback',
  lock: 'lock',
  unlock: 'unlock',
  approve: 'approve',
  reject: 'reject',
  rename: 'rename',
  remove: 'remove',
  cancel: 'cancel',
  /** Makes `agentRule` prompt with the newest event again. */
  runAgain: 'runAgain',
} as const;

export const SEARCH_ATTRIBUTES = {
  site: 'GalleySite',
  phase: 'GalleyPhase',
  version: 'GalleyVersion',
  pullRequest: 'GalleyPullRequest',
  linkExpiresAt: 'GalleyLinkExpiresAt',
} as const;
