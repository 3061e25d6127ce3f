import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { SEARCH_ATTRIBUTES, WORKFLOW_IDS } from '../../contract/names.ts';
import {
  type ExportRecord,
  SITE_MEMO,
  type SiteError,
  type SiteMemo,
  type SitePhase,
  type SiteState,
} from '../../contract/site-state.ts';
import { createVisibility, escapeMarkdown, markdownLink, paragraphs } from '../entity/visibility.ts';
import { unconfirmedTargets } from './confirmations.ts';
import type { Histories } from './histories.ts';
import type { SiteRun } from './run.ts';
import { nextRefreshAtMs, type ObservedSite, plannedRefreshAtMs } from './schedule.ts';
import type { State } from './state.ts';
import { firstToExpire } from './targets.ts';

/** Keeps the current details, search attributes and memo up to date. */
export async function watchVisibility(run: SiteRun): Promise<void> {
  const memo = () => ({ [SITE_MEMO]: siteMemoOf(run) });
  await createVisibility({ details: () => details(run), attributes: () => attributesOf(run), memo }).watch();
}

/** The result of the query `state`. */
export function siteStateWithHistories(site: ObservedSite): SiteState {
  const { deliveries, exports, refreshes, actions } = site.state.histories;
  return { ...siteStateOf(site), deliveries: withWorkflow(site, deliveries), exports, refreshes, actions };
}

/** The result of updates, which the history keeps, and of the query for a list of sites. */
export function briefSiteStateOf(site: ObservedSite): SiteState {
  return { ...siteStateOf(site), deliveries: withWorkflow(site, site.state.histories.deliveries.slice(0, 5)) };
}

function withWorkflow({ site }: ObservedSite, deliveries: Histories['deliveries']): SiteState['deliveries'] {
  const workflowId = WORKFLOW_IDS.exportSite(site);
  return deliveries.map((delivery) => ({ ...delivery, workflowId }));
}

/** The site's state without histories. */
export function siteStateOf({ site, state, settings }: ObservedSite): SiteState {
  const { exporting, live, trouble, backOff } = state;
  // An overdue refresh is due now.
  const refreshAtMs = Math.max(nextRefreshAtMs({ site, state, settings }), Date.now());
  return {
    site,
    phase: phaseOf(state),
    jobId: exporting?.jobId ?? live?.jobId ?? null,
    version: servedVersion(state),
    linkExpiresAt: firstToExpire(state)?.expiresAt ?? null,
    exportedAt: live?.exportedAt ?? null,
    withheld: withheldVersion(state),
    confirmed: confirmedOf(state),
    review: reviewOf(state),
    nextRefreshAt: live && Number.isFinite(refreshAtMs) ? new Date(refreshAtMs).toISOString() : null,
    lastError: shownErrorOf(state),
    nextTryAt: backOff?.waiting ? new Date(backOff.untilMs).toISOString() : null,
    deployments: state.targets.map(
      ({ valuesFile, kind, jobId, version, updatedAt, held, pin, off, confirmation, error }) => {
        const confirmed = confirmation === null ? null : confirmation.servedAt !== null;
        return { valuesFile, kind, jobId, version, updatedAt, held, pin, off, confirmed, error };
      },
    ),
    pendingCount: state.pending?.count ?? 0,
    deliveries: [],
    exports: [],
    refreshes: [],
    actions: [],
    trouble: trouble && { since: new Date(trouble.sinceMs).toISOString(), mails: trouble.mails },
    progress: null,
  };
}

/** What is in progress comes before what is wrong, and that before what is served. */
export function phaseOf(state: State): SitePhase {
  const { exporting, pending, backOff, paused, live, targets } = state;
  const failed = backOff?.waiting === true;
  if (exporting !== null && !failed) {
    return exporting.stage === 'bundling' || exporting.stage === 'deploying' ? exporting.stage : 'exporting';
  }
  if (paused) return 'paused';
  if (state.unconfigured !== null) return 'unconfigured';
  if (failed && (exporting !== null || pending !== null)) return 'failed';
  if (pending !== null) return 'debouncing';
  if (targets.some(({ writing, jobId }) => writing && jobId !== live?.jobId)) return 'deploying';
  if (state.review !== null) return 'review';
  const late = unconfirmedTargets(state).map(({ confirmation }) => confirmation?.late === true);
  if (late.includes(false)) return 'confirming';
  if (targets.length > 0 && targets.every((target) => target.error !== null)) return 'failed';
  if (late.length > 0 && late.length === targets.length) return 'failed';
  if (targets.length > 0 && targets.every((target) => target.off)) return 'off';
  if (targets.some((target) => target.held)) return 'held';
  return live === null ? 'idle' : 'live';
}

/** The newest error, also of a version that wasn't served in time. */
function shownErrorOf(state: State): SiteError | null {
  const { notServed } = state;
  if (notServed === null) return lastErrorOf(state);
  const { message, rolledBackTo, at } = notServed;
  const what = rolledBackTo === null ? message : `${message}; rolled back to ${rolledBackTo}`;
  return newestOf([lastErrorOf(state), { message: what, status: null, at }]);
}

/**
 * The newest error of the configuration, the export, the refresh or a deployment, which lasts until a retry succeeds. A
 * version that wasn't served in time has a mail of its own.
 */
export function lastErrorOf({ unconfigured, exportError, refreshError, targets }: State): SiteError | null {
  const errors = [unconfigured, exportError, refreshError];
  const failed = targets.find((target) => target.error !== null);
  if (failed?.error && failed.failedAt) {
    const { valuesFile, error } = failed;
    const message = error.includes(valuesFile) ? error : `${valuesFile}: ${error}`;
    errors.push({ message, status: null, at: failed.failedAt });
  }
  return newestOf(errors);
}

function newestOf(errors: readonly (SiteError | null)[]): SiteError | null {
  const known = errors.filter((error) => error !== null);
  return known.toSorted((a, b) => b.at.localeCompare(a.at))[0] ?? null;
}

/** Whether all deployments with a `statusUrl` serve the live job; null if none has one. */
function confirmedOf({ live, targets }: State): boolean | null {
  const asked = targets.filter(({ confirmation }) => confirmation !== null && confirmation.jobId === live?.jobId);
  return asked.length === 0 ? null : asked.every(({ confirmation }) => confirmation?.servedAt !== null);
}

/** If every deployment is held at a pin, that isn't the newest version. */
function servedVersion({ live, targets }: State): string | null {
  const [first] = targets;
  if (first !== undefined && targets.every((target) => target.held)) return first.version;
  return live?.version ?? null;
}

/** The newest version, while a rollback withholds it. */
function withheldVersion({ live, newest }: State): SiteState['withheld'] {
  if (live?.rolledBack !== true || newest === null || newest.jobId === live.jobId) return null;
  return { version: newest.version, exportedAt: newest.exportedAt };
}

function reviewOf({ review }: State): SiteState['review'] {
  if (review === null) return null;
  const { jobId, version, at, reasons } = review;
  return { jobId, version, at, reasons: [...reasons] };
}

function attributesOf(run: SiteRun): SearchAttributeUpdatePair[] | null {
  if (!run.settings.searchAttributes) return null;
  const { site, phase, version, linkExpiresAt } = siteStateOf(run);
  const { site: siteName, phase: phaseName, version: versionName, linkExpiresAt: expiryName } = SEARCH_ATTRIBUTES;
  return [
    { key: { name: siteName, type: 'KEYWORD' }, value: site },
    { key: { name: phaseName, type: 'KEYWORD' }, value: phase },
    { key: { name: versionName, type: 'KEYWORD' }, value: version },
    { key: { name: expiryName, type: 'DATETIME' }, value: linkExpiresAt === null ? null : new Date(linkExpiresAt) },
  ];
}

/** Each change of it is an event in the history. */
function siteMemoOf(site: ObservedSite & { settings: { searchAttributes: boolean } }): SiteMemo {
  const { state, settings } = site;
  const link = firstToExpire(state);
  return {
    servedPublishAt: servedPublishAt(state.histories),
    waitingSince: waitingSince(state),
    refreshDueAt: link && new Date(plannedRefreshAtMs(site, link)).toISOString(),
    ...(!settings.searchAttributes && { phase: phaseOf(state), linkExpiresAt: link?.expiresAt ?? null }),
  };
}

function servedPublishAt({ exports, deliveries }: State['histories']): string | null {
  const served = exports.find(({ deployedAt }) => deployedAt !== null);
  const newest = served && deliveries.find(({ exportNumber }) => exportNumber === served.number);
  return newest?.at ?? served?.requestedAt ?? null;
}

function waitingSince({ pending, exporting, paused }: State): string | null {
  const waiting = [pending, exporting?.publishes].flatMap((publishes) =>
    publishes && publishes.count > 0 ? [publishes.oldestAtMs] : [],
  );
  return paused || waiting.length === 0 ? null : new Date(Math.min(...waiting)).toISOString();
}

function details(run: SiteRun): string {
  const { phase, withheld, review, linkExpiresAt, nextRefreshAt, lastError } = siteStateOf(run);
  const { pending, backOff, exporting, live, targets, histories } = run.state;
  const { domain, pageUrl } = run.settings;
  const lastExport = histories.exports.find(({ endedAt }) => endedAt !== null);
  return paragraphs([
    `**${escapeMarkdown(domain)}**: ${phase}${live?.rolledBack ? ' (rolled back; held until the next publish)' : ''}`,
    pageUrl && markdownLink('Page of the site', pageUrl),
    live && `serves ${escapeMarkdown(live.version ?? live.jobId)}, exported ${live.exportedAt}`,
    withheld && `withholds the newer ${escapeMarkdown(withheld.version ?? 'export')}, exported ${withheld.exportedAt}`,
    review &&
      `**${escapeMarkdown(review.version ?? review.jobId)} waits for \`galley sites approve\` or \`reject\`**: ` +
        escapeMarkdown(review.reasons.join('; ')),
    linkExpiresAt && `link ends ${linkExpiresAt}, next refresh ${nextRefreshAt ?? 'unknown'}`,
    exporting && `export ${exporting.jobId ?? ''} of ${exporting.publishes.count} publish(es): ${exporting.stage}`,
    pending &&
      `${pending.count} publish(es) wait${pending.newest ? `, the newest: ${escapeMarkdown(pending.newest.title)}` : ''}`,
    backOff && `next try of the export ${new Date(backOff.untilMs).toISOString()}`,
    ...targets.map((target) => target.off && `${target.valuesFile} is off: its operator set enabled to false`),
    ...targets.map((target) => target.held && `${target.valuesFile} is held at ${target.pin ?? 'its version'}`),
    lastError && `last error (${lastError.at}): ${escapeMarkdown(lastError.message)}`,
    lastError && `**What to do**: ${adviceOf(run.state, lastError)}`,
    lastExport && lastExportDetails(lastExport),
  ]);
}

function lastExportDetails({ number, outcome, version, endedAt, publishCount, author }: ExportRecord): string {
  const what = `last export: number ${number}, ${outcome} at ${endedAt}, ${publishCount} publish(es)`;
  const named = [version && `version ${escapeMarkdown(version)}`, author && `by ${escapeMarkdown(author)}`];
  return [what, ...named.filter(Boolean)].join(', ');
}

/** What the operator can do about the last error, in Markdown. */
function adviceOf(state: State, { status }: SiteError): string {
  const retried = 'Galley retries by itself, and at once after the next publish or `galley sites export`.';
  if (state.unconfigured !== null) {
    return 'add the site to the `galley.yaml` of every worker, or end it with `galley sites remove`.';
  }
  if (status === 401) return 'set a valid `adminApi.key` in `galley.yaml` and restart the workers.';
  if (status === 403) return 'check that the organization of the Admin API key has a plan with static exports.';
  if (state.exportError !== null) return `\`galley exports show\` and its report say why the job failed. ${retried}`;
  if (state.notServed !== null)
    return 'check the deployment: `GET /-/status` of it says why it serves another version.';
  if (state.refreshError !== null) return 'check that the Admin API responds. Galley retries until the link is fresh.';
  return 'check that a worker can write to the deployment. Galley retries every minute.';
}
