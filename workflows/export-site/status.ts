import { WORKFLOW_IDS } from '../../contract/names.ts';
import type { SiteSettings } from '../../contract/settings.ts';
import type {
  DeploymentState,
  DeploymentStatus,
  ExportRecord,
  SiteError,
  SitePhase,
  SiteState,
  UnservedReason,
} from '../../contract/site-state.ts';
import { TARGETS } from '../../contract/target-kind.ts';
import { errorOf } from './deployments.ts';
import { type Desired, desiredVersion, follows, jobOf, pinnedJob } from './desired-version.ts';
import type { Histories } from './histories.ts';
import { isConfirming, oldestUnservedMs } from './next-steps.ts';
import { oldestPublishMs, plannedRefreshAtMs } from './schedule.ts';
import type { Deployment, HeldLink, State } from './state.ts';

/** What a site serves, since when and why: the API, the CLI, pages, mails and metrics all show this. Pure. */

export type ObservedSite = {
  site: string;
  state: State;
  settings: Pick<SiteSettings, 'maxWaitMs' | 'refreshMargin' | 'minRefreshIntervalMs'>;
  /** The deployments that are being written to. */
  isWriting: (place: string) => boolean;
};

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
export function siteStateOf(site: ObservedSite): SiteState {
  const { state } = site;
  const { trouble, backOff, lock } = state;
  const deployments = state.deployments.map((each) => deploymentStateOf(site, each));
  const refreshAtMs = nextRefreshAtMs(site);
  return {
    site: site.site,
    phase: phaseOf(state, deployments),
    ...siteVersion(state),
    linkExpiresAt: firstToExpire(state)?.link.expiresAt ?? null,
    withheld: withheldVersion(state),
    confirmed: confirmedOf(deployments),
    oldestUnserved: oldestUnservedOf(state, deployments),
    lock: lock && { by: lock.by, at: lock.at, reason: lock.reason },
    review: reviewOf(state),
    // An overdue refresh is due now.
    nextRefreshAt: refreshAtMs === null ? null : new Date(Math.max(refreshAtMs, Date.now())).toISOString(),
    lastError: lastErrorOf(state),
    nextTryAt: backOff?.waiting ? new Date(backOff.untilMs).toISOString() : null,
    deployments,
    pendingCount: state.pending?.count ?? 0,
    deliveries: [],
    exports: [],
    refreshes: [],
    actions: [],
    form: state.form,
    guardsNotChecked: [...state.guardsNotChecked],
    trouble: trouble && { since: new Date(trouble.sinceMs).toISOString(), mails: trouble.mails },
    progress: null,
  };
}

/** The newest export that at least one deployment should have; without deployments, the newest one. */
export function siteVersion(state: State): Pick<SiteState, 'jobId' | 'version' | 'exportedAt'> {
  const { deployments, newest } = state;
  const jobs =
    deployments.length === 0 ? [jobOf(state, newest)] : deployments.map((each) => desiredVersion(state, each).job);
  const [job] = jobs.filter((each) => each !== null).toSorted((a, b) => b.upTo - a.upTo);
  return { jobId: job?.jobId ?? null, version: job?.version ?? null, exportedAt: job?.exportedAt ?? null };
}

function deploymentStateOf(site: ObservedSite, deployment: Deployment): DeploymentState {
  const { state } = site;
  const { name, kind, wave, url, pin, off, written, answer, confirm, proposed } = deployment;
  const desired = desiredVersion(state, deployment);
  const isServed = answer?.verdict === 'served' && answer.jobId === written?.jobId;
  return {
    name,
    kind,
    wave,
    state: statusOf(site, deployment, desired),
    version: written?.version ?? null,
    jobId: written?.jobId ?? null,
    desired: wantedOf(desired),
    writtenAt: written?.at ?? null,
    servedAt: isServed ? answer.at : null,
    confirmed: confirm === null || written === null ? null : isServed,
    linkExpiresAt: TARGETS[kind].keepsLink ? (written?.link?.expiresAt ?? null) : null,
    pin,
    off,
    error: deploymentErrorOf(state, deployment),
    url,
    proposal: proposed?.url ?? null,
  };
}

/** What it waits for, if a person or a wave keeps it; otherwise what it should have now. */
function wantedOf({ job, reason, waitsFor }: Desired): DeploymentState['desired'] {
  const isWaiting = reason === 'waits-for-approval' || reason === 'waits-for-wave';
  const shown = isWaiting ? (waitsFor ?? job) : job;
  return { version: shown?.version ?? null, jobId: shown?.jobId ?? null, reason };
}

function statusOf({ state, isWriting }: ObservedSite, deployment: Deployment, desired: Desired): DeploymentStatus {
  const { off, pin, written, proposed, confirm, answer, trouble } = deployment;
  const { job, reason, waitsFor } = desired;
  const isThere = job !== null && written?.jobId === job.jobId;
  if (off) return 'off';
  if (trouble !== null && trouble.jobId === job?.jobId) return 'failed';
  if (job !== null && state.linkTrouble[job.jobId] !== undefined && !isThere) return 'failed';
  if (pin !== null && (pinnedJob(state, deployment) === null || isThere)) {
    return waitsFor === null && isThere ? 'live' : 'held';
  }
  if (proposed !== null) return 'proposed';
  // The next version waits for an answer about the one that is there.
  if (job !== null && !isThere && isConfirming(state, deployment)) return 'confirming';
  if (job !== null && !isThere) return 'writing';
  if (isWriting(deployment.place) && !isThere) return 'writing';
  if (reason === 'locked') return 'locked';
  if (reason === 'waits-for-approval') return 'approval';
  if (written === null || (reason === 'waits-for-wave' && waitsFor !== null)) return 'waiting';
  if (confirm === null || answer?.verdict === 'served') return 'live';
  if (answer === null) return 'confirming';
  return answer.verdict === 'unknown' ? 'unknown' : 'failed';
}

/** Why it doesn't have what it should have, or no fresh link to it: of its last write, or of its link. */
export function writeErrorOf(state: State, deployment: Deployment): SiteError | null {
  const { trouble } = deployment;
  const { job } = desiredVersion(state, deployment);
  if (job === null) return null;
  return trouble?.jobId === job.jobId ? trouble.error : (state.linkTrouble[job.jobId]?.error ?? null);
}

/** Of its last write, its link, its pin, or its own answer. */
function deploymentErrorOf(state: State, deployment: Deployment): SiteError | null {
  const { answer, pin, pinSearch, withheld } = deployment;
  const { job, reason } = desiredVersion(state, deployment);
  const error = writeErrorOf(state, deployment);
  if (error !== null) return error;
  if (pin !== null && pinSearch?.pin === pin && pinnedJob(state, deployment) === null) {
    const { versions, againAtMs } = pinSearch;
    if (againAtMs !== null) return errorOf(`the Admin API can't be asked for the pinned version ${pin}`, state.epochMs);
    const list = versions.length === 0 ? 'the Admin API has none of it' : `there are ${versions.join(', ')}`;
    return errorOf(`the pinned version ${pin} doesn't exist: ${list}`, state.epochMs);
  }
  if (reason === 'withheld' && withheld !== null) {
    const { jobId, why, at } = withheld;
    const version = jobOf(state, jobId)?.version ?? jobId;
    return {
      message: `${version} was not served (${why}): rolled back to ${job?.version ?? job?.jobId}`,
      status: null,
      at,
    };
  }
  if (answer === null || answer.verdict === 'served' || answer.jobId !== job?.jobId) return null;
  const what = answer.verdict === 'unknown' ? 'not known to be served' : 'not served';
  return { message: `${job.version ?? job.jobId} is ${what}: ${answer.why ?? ''}`, status: null, at: answer.at };
}

/** The first that applies: what is in progress comes before what waits, and that before what is served. */
export function phaseOf(
  state: State,
  deployments: readonly Pick<DeploymentState, 'state' | 'off' | 'pin'>[],
): SitePhase {
  const { exporting, pending, backOff, paused, newest, exportError } = state;
  const failed = backOff?.waiting === true && (exporting !== null || pending !== null);
  const isAny = (...wanted: DeploymentStatus[]): boolean => deployments.some((each) => wanted.includes(each.state));
  const following = deployments.filter(follows);
  if (exporting !== null && !failed) return exporting.stage === 'bundling' ? 'bundling' : 'exporting';
  if (paused) return 'paused';
  if (state.unconfigured !== null) return 'unconfigured';
  if (failed) return exportError?.status === 429 ? 'waiting' : 'failed';
  if (pending !== null) return state.startWait === null ? 'debouncing' : 'waiting';
  if (state.lock !== null) return 'locked';
  if (state.review !== null || isAny('approval')) return 'review';
  if (isAny('writing')) return 'deploying';
  if (isAny('confirming', 'unknown')) return 'confirming';
  if (following.length > 0 && following.every((each) => each.state === 'failed')) return 'failed';
  if (isAny('proposed')) return 'proposed';
  if (deployments.length > 0 && deployments.every((each) => each.state === 'off')) return 'off';
  if (isAny('held')) return 'held';
  return newest === null && !isAny('live') ? 'idle' : 'live';
}

/** The export's error, otherwise the newest one of a deployment. */
export function lastErrorOf(state: State): SiteError | null {
  return errorOfSite(state, deploymentErrorOf);
}

/** The same without what a deployment answers, about which operators get another mail. */
export function troubleOf(state: State): SiteError | null {
  return errorOfSite(state, writeErrorOf);
}

function errorOfSite(
  state: State,
  errorOfDeployment: (state: State, deployment: Deployment) => SiteError | null,
): SiteError | null {
  const { unconfigured, exportError } = state;
  if (exportError !== null || unconfigured !== null) return newestOf([unconfigured, exportError]);
  const errors = state.deployments.map((each) => {
    const error = errorOfDeployment(state, each);
    return error && { ...error, message: named(each, error.message) };
  });
  return newestOf(errors);
}

/** An error of a values file names its path already. */
function named({ name }: Deployment, message: string): string {
  return message.includes(name) ? message : `${name}: ${message}`;
}

function newestOf(errors: readonly (SiteError | null)[]): SiteError | null {
  const known = errors.filter((error) => error !== null);
  return known.toSorted((a, b) => b.at.localeCompare(a.at))[0] ?? null;
}

/** Whether all deployments with a `statusUrl` serve what was written; null if none has one. */
function confirmedOf(deployments: readonly DeploymentState[]): boolean | null {
  const asked = deployments.filter(({ confirmed, off }) => confirmed !== null && !off);
  return asked.length === 0 ? null : asked.every(({ confirmed }) => confirmed);
}

/** The newest version, while a rollback or a lock keeps every deployment from it. */
function withheldVersion(state: State): SiteState['withheld'] {
  const newest = jobOf(state, state.newest);
  if (newest === null || siteVersion(state).jobId === newest.jobId) return null;
  const reasons = state.deployments.map((each) => desiredVersion(state, each).reason);
  if (!reasons.some((reason) => reason === 'rolled-back' || reason === 'locked' || reason === 'withheld')) return null;
  return { version: newest.version, exportedAt: newest.exportedAt ?? '' };
}

function reviewOf({ review }: State): SiteState['review'] {
  if (review === null) return null;
  const { jobId, version, at, reasons, previewUrl } = review;
  return { jobId, version, at, reasons: [...reasons], ...(previewUrl !== undefined && { previewUrl }) };
}

/** The oldest accepted publish that a deployment which should follow doesn't have yet. Rejected or rolled back ones are settled. */
export function oldestUnservedOf(state: State, deployments: readonly DeploymentState[]): SiteState['oldestUnserved'] {
  const found: { atMs: number; reason: UnservedReason }[] = [];
  const { pending, exporting, review } = state;
  const add = (atMs: number | null, reason: UnservedReason): void => {
    if (atMs !== null) found.push({ atMs, reason });
  };
  for (const [index, deployment] of state.deployments.entries()) {
    if (!follows(deployment)) continue;
    add(oldestUnservedMs(state, deployment), state.lock === null ? reasonOf(deployments[index]) : 'locked');
  }
  add(review?.oldestPublishMs ?? null, 'review');
  add(oldestPublishMs(exporting?.publishes ?? null), exportReason(state, 'exporting'));
  add(oldestPublishMs(pending), exportReason(state, state.startWait === null ? 'debouncing' : 'waiting'));
  const oldest = found.reduce<(typeof found)[number] | null>(
    (first, each) => (first && first.atMs <= each.atMs ? first : each),
    null,
  );
  return oldest && { at: new Date(oldest.atMs).toISOString(), reason: oldest.reason };
}

function exportReason(
  { paused, unconfigured, backOff, exportError }: State,
  otherwise: UnservedReason,
): UnservedReason {
  if (paused) return 'paused';
  if (unconfigured !== null) return 'unconfigured';
  if (backOff?.waiting !== true) return otherwise;
  return exportError?.status === 429 ? 'waiting' : 'failed';
}

function reasonOf(deployment: DeploymentState | undefined): UnservedReason {
  const status = deployment?.state ?? 'waiting';
  if (deployment?.desired.reason === 'withheld') return 'failed';
  if (status === 'writing' || status === 'proposed') return 'deploying';
  if (status === 'live' || status === 'held' || status === 'off') return 'waiting';
  return status;
}

/** When the newest publish arrived that a deployment has now, or (not `isCurrent`) ever had: it may have been rolled back. */
export function servedPublishAt({ histories, deployments }: State, isCurrent = true): string | null {
  const { exports, deliveries } = histories;
  const isThere = ({ jobId }: ExportRecord) =>
    deployments.some(({ written }) => jobId !== null && written?.jobId === jobId);
  const served = exports.find((each) => each.writtenAt !== null && (!isCurrent || isThere(each)));
  const newest = served && deliveries.find(({ exportNumber }) => exportNumber === served.number);
  return newest?.at ?? served?.requestedAt ?? null;
}

/** The link in use that expires first. */
export function firstToExpire({ deployments }: State): { deployment: Deployment; link: HeldLink } | null {
  const links = deployments.flatMap((deployment) => {
    const link = deployment.written?.link;
    return link && TARGETS[deployment.kind].keepsLink ? [{ deployment, link }] : [];
  });
  const endOf = ({ link }: { link: HeldLink }): number => link.obtainedAtMs + link.lifetimeMs;
  return links.toSorted((a, b) => endOf(a) - endOf(b))[0] ?? null;
}

/** When the next link is due to be refreshed; null if there is none. */
function nextRefreshAtMs({ site, state, settings }: ObservedSite): number | null {
  const times = state.deployments.flatMap((deployment) => {
    const { written, kind, trouble } = deployment;
    const link = written?.link;
    if (!link || !TARGETS[kind].keepsLink) return [];
    const notBeforeMs = Math.max(trouble?.notBeforeMs ?? 0, state.linkTrouble[written.jobId]?.notBeforeMs ?? 0);
    return [Math.max(plannedRefreshAtMs(deployment, link, { site, settings }), notBeforeMs)];
  });
  return times.length === 0 ? null : Math.min(...times);
}
