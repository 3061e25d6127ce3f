import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { condition, patched } from '@temporalio/workflow';
import { escapeMarkdown, markdownLink, paragraphs } from '../../contract/details-markdown.ts';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import {
  type ExportRecord,
  SITE_MEMO,
  type SiteError,
  type SiteMemo,
  type SiteState,
} from '../../contract/site-state.ts';
import { createVisibility } from '../entity/visibility.ts';
import { observed, type SiteRun } from './run.ts';
import { plannedRefreshAtMs } from './schedule.ts';
import type { State } from './state.ts';
import { firstToExpire, servedPublishAt, siteStateOf } from './status.ts';

/** Keeps the current details, search attributes and memo up to date. */
export async function watchVisibility(run: SiteRun): Promise<void> {
  let isCurrent = false;
  const memo = () => ({ [SITE_MEMO]: siteMemoOf(run, isCurrent) });
  // In earlier histories, the memo changed at other times. Marked only where that matters, because an earlier release can't
  // go on with a history that has the mark.
  const differs = condition(() => servedPublishAt(run.state) !== servedPublishAt(run.state, false));
  const visibility = createVisibility({ details: () => details(run), attributes: () => attributesOf(run), memo });
  const markOnce = async (): Promise<void> => {
    await differs;
    isCurrent = patched('served-now-2026-11');
  };
  await Promise.all([markOnce(), visibility.watch()]);
}

function attributesOf(run: SiteRun): SearchAttributeUpdatePair[] | null {
  if (!run.settings.searchAttributes) return null;
  const { site, phase, version, linkExpiresAt } = siteStateOf(observed(run));
  const { site: siteName, phase: phaseName, version: versionName, linkExpiresAt: expiryName } = SEARCH_ATTRIBUTES;
  return [
    { key: { name: siteName, type: 'KEYWORD' }, value: site },
    { key: { name: phaseName, type: 'KEYWORD' }, value: phase },
    { key: { name: versionName, type: 'KEYWORD' }, value: version },
    { key: { name: expiryName, type: 'DATETIME' }, value: linkExpiresAt === null ? null : new Date(linkExpiresAt) },
  ];
}

/** Each change of it is an event in the history. */
function siteMemoOf(run: SiteRun, isCurrent: boolean): SiteMemo {
  const { state, settings, site } = run;
  const { phase, linkExpiresAt, oldestUnserved } = siteStateOf(observed(run));
  const first = firstToExpire(state);
  return {
    servedPublishAt: servedPublishAt(state, isCurrent),
    oldestUnserved,
    refreshDueAt: first && new Date(plannedRefreshAtMs(first.deployment, first.link, { site, settings })).toISOString(),
    ...(!settings.searchAttributes && { phase, linkExpiresAt }),
  };
}

function details(run: SiteRun): string {
  const shown = siteStateOf(observed(run));
  const { phase, version, jobId, exportedAt, withheld, review, lock, linkExpiresAt, nextRefreshAt, lastError } = shown;
  const { pending, backOff, exporting, rollback, histories } = run.state;
  const { domain, pageUrl } = run.settings;
  const lastExport = histories.exports.find(({ endedAt }) => endedAt !== null);
  return paragraphs([
    `**${escapeMarkdown(domain)}**: ${phase}${rollback ? ' (rolled back; held until the next publish)' : ''}`,
    pageUrl && markdownLink('Page of the site', pageUrl),
    jobId && `serves ${escapeMarkdown(version ?? jobId)}, exported ${exportedAt ?? 'at an unknown time'}`,
    withheld && `withholds the newer ${escapeMarkdown(withheld.version ?? 'export')}, exported ${withheld.exportedAt}`,
    lock &&
      `locked by ${escapeMarkdown(lock.by)} since ${lock.at}${lock.reason ? `: ${escapeMarkdown(lock.reason)}` : ''}`,
    review &&
      `**${escapeMarkdown(review.version ?? review.jobId)} waits for \`galley sites approve\` or \`reject\`**: ` +
        escapeMarkdown(review.reasons.join('; ')),
    linkExpiresAt && `link ends ${linkExpiresAt}, next refresh ${nextRefreshAt ?? 'unknown'}`,
    exporting && `export ${exporting.jobId ?? ''} of ${exporting.publishes.count} publish(es): ${exporting.stage}`,
    pending &&
      `${pending.count} publish(es) wait${pending.newest ? `, the newest: ${escapeMarkdown(pending.newest.title)}` : ''}`,
    backOff && `next try of the export ${new Date(backOff.untilMs).toISOString()}`,
    ...shown.deployments.map(deploymentDetails),
    lastError && `last error (${lastError.at}): ${escapeMarkdown(lastError.message)}`,
    lastError && `**What to do**: ${adviceOf(run.state, lastError)}`,
    lastExport && lastExportDetails(lastExport),
  ]);
}

/** Nothing of a deployment that is as it should be. */
function deploymentDetails({ name, state, pin, desired, proposal }: SiteState['deployments'][number]): string | false {
  if (state === 'off') return `${escapeMarkdown(name)} is off: its operator set enabled to false`;
  if (state === 'held') return `${escapeMarkdown(name)} is held at ${escapeMarkdown(pin ?? 'its version')}`;
  if (state === 'proposed') return `${escapeMarkdown(name)}: ${markdownLink('pull request', proposal ?? '')}`;
  const isWaiting = state === 'waiting' || state === 'approval' || state === 'unknown';
  return isWaiting && desired.jobId !== null && `${escapeMarkdown(name)}: ${state}, ${desired.reason}`;
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
  if (Object.keys(state.linkTrouble).length > 0) {
    return 'check that the Admin API responds. Galley retries until the link is fresh.';
  }
  if (state.deployments.some(({ answer }) => answer !== null && answer.verdict !== 'served')) {
    return 'check the deployment: `GET /-/status` of it says why it serves another version.';
  }
  return 'check that a worker can write to the deployment. Galley retries every minute.';
}
