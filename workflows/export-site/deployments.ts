import type { DeploymentReport } from '../../activities/deployments/deployment-target.ts';
import { backoff } from '../../base/backoff.ts';
import type { DeploymentSettings, PinnedFile } from '../../contract/settings.ts';
import type { SiteError } from '../../contract/site-state.ts';
import { TARGETS } from '../../contract/target-kind.ts';
import type { Deployment, HeldLink, Job, MutableDeployment, MutableState, State } from './state.ts';

/** The named changes of the deployments' records. Each concerns one deployment. */

const writeDelayMs = backoff({ firstMs: 5_000, maxMs: 60_000 });

/** Whether a closed pull request with a fresh link was reopened is looked up this often. */
const CLOSED_REFRESH_MS = 300_000;

const MAX_TEXT = 500;

/** Takes over the configured deployments. Those that are no longer configured are forgotten. */
export function configureDeployments(state: MutableState, configured: readonly DeploymentSettings[]): void {
  state.deployments = configured.map((settings) => {
    const known = state.deployments.find(({ place }) => place === settings.place);
    if (known === undefined) return newDeployment(settings, state.epochMs);
    // From now on nothing says what it serves.
    if (settings.confirm === null && known.written !== null) known.lastGood = known.written.jobId;
    return Object.assign(known, { integrity: undefined }, settings);
  });
}

/** Adopts what operators set there. Returns whether anything changed. */
export function adoptSwitches(state: MutableState, { valuesFile, pin, off }: PinnedFile): boolean {
  const deployment = state.deployments.find(({ place }) => place === valuesFile);
  if (deployment === undefined) return false;
  // Before the first deploy, `enabled: false` is not the operator's.
  return setSwitches(deployment, { pin, off: off && (deployment.written !== null || deployment.off) });
}

function setSwitches(
  deployment: MutableDeployment,
  { pin: typed, off }: { pin: string | null; off: boolean },
): boolean {
  const pin = typed?.slice(0, 200) ?? null;
  if (pin === deployment.pin && off === deployment.off) return false;
  if (deployment.off && !off) {
    // The file may be an old copy, whose link is not the last one.
    deployment.written = deployment.written && { ...deployment.written, link: null };
    deployment.answer = null;
  }
  if (pin !== deployment.pin) deployment.pinSearch = null;
  Object.assign(deployment, { pin, off });
  return true;
}

export function beginWrite(deployment: MutableDeployment, job: Job): void {
  deployment.begun = job.jobId;
}

/** What orders the next write. */
export function nextFence({ fence }: MutableDeployment): { epoch: number; sequence: number; takeover?: Writer } {
  fence.sequence++;
  const { epoch, sequence, takeover } = fence;
  return { epoch, sequence, ...(takeover !== null && { takeover }) };
}

type Writer = NonNullable<MutableDeployment['fence']['takeover']>;

/** The next write replaces this writer, if it is still the last one. */
export function takeOver(deployment: MutableDeployment, { site, epoch, sequence }: Writer): void {
  deployment.fence.takeover = { site, epoch, sequence };
}

/** As the site's next name continues them: its first writes take them over. A pull request belongs to the old name. */
export function movedDeployments(state: State, site: string): MutableDeployment[] {
  return state.deployments.map((each) => {
    const { epoch, sequence, takeover } = each.fence;
    return { ...each, fence: { epoch, sequence, takeover: takeover ?? { site, epoch, sequence } }, proposed: null };
  });
}

/** After a reset or a restored database the workflow is behind its own writes, but still decides. Returns whether it was. */
function catchUpFence({ fence }: MutableDeployment, { outcome, owner }: DeploymentReport): boolean {
  fence.takeover = null;
  if (owner === null) return false;
  const { site, epoch, sequence } = owner;
  if (epoch < fence.epoch || (epoch === fence.epoch && sequence <= fence.sequence)) return false;
  // Another chain of runs wrote it.
  if (outcome === 'superseded' && epoch > fence.epoch) fence.takeover = { site, epoch, sequence };
  else Object.assign(fence, { epoch, sequence });
  return true;
}

export type Wrote = { job: Job; version: string | null; link: HeldLink; tookMs: number; nowMs: number };

/** The end of a write. Returns whether the job is there now. */
export function applyReport(deployment: MutableDeployment, report: DeploymentReport, wrote: Wrote): boolean {
  const { job, version, link, tookMs, nowMs } = wrote;
  const { jobId } = job;
  const changed = setSwitches(deployment, report);
  const isBehind = catchUpFence(deployment, report) && report.outcome === 'superseded';
  const at = new Date(nowMs).toISOString();
  if (report.outcome === 'written') {
    const { written } = deployment;
    const isRefresh = written?.jobId === jobId;
    const bundlePath = report.bundlePath ?? null;
    const there = report.link === undefined ? link : heldSinceItBegan(report.link);
    deployment.written = { jobId, version, at: isRefresh ? written.at : at, tookMs, link: there, bundlePath };
    if (!isRefresh) deployment.answer = null;
    if (deployment.confirm === null) deployment.lastGood = jobId;
    deployment.proposed = null;
    deployment.trouble = null;
    return true;
  }
  if (report.outcome === 'proposed') {
    const { epoch, sequence } = report.owner ?? deployment.fence;
    deployment.proposed = { jobId, version, url: report.url ?? null, link, epoch, sequence };
    deployment.trouble = null;
    return false;
  }
  if (report.outcome === 'closed') {
    proposalClosed(deployment, job, nowMs);
    return false;
  }
  adoptWritten(deployment, report.jobId);
  deployment.begun = deployment.written?.jobId ?? null;
  // An operator has just changed the pin, or this count was behind: what to do is decided again.
  if (!changed && !isBehind) writeFailed(deployment, job, whyRefused(report, job), nowMs);
  return false;
}

function heldSinceItBegan({ expiresAt, lifetimeMs }: NonNullable<DeploymentReport['link']>): HeldLink {
  return { expiresAt, lifetimeMs, obtainedAtMs: Date.parse(expiresAt) - lifetimeMs };
}

/** What the deployment has, if it isn't what this state says: another chain of runs wrote it. */
function adoptWritten(deployment: MutableDeployment, jobId: string | null): void {
  if (jobId === (deployment.written?.jobId ?? null)) return;
  deployment.written =
    jobId === null ? null : { jobId, version: null, at: null, tookMs: 0, link: null, bundlePath: null };
  deployment.answer = null;
}

function whyRefused({ outcome, pin }: DeploymentReport, { jobId, version }: Job): string {
  if (outcome === 'superseded') return 'a newer write than this workflow knows of is there already';
  if (outcome === 'older') return `${jobId} is older than what is deployed: a new export is needed`;
  return `${version ?? jobId} is not the version of the pin (${pin ?? 'none'})`;
}

export function writeFailed(deployment: MutableDeployment, { jobId }: Job, message: string, nowMs: number): void {
  const before = deployment.trouble?.jobId === jobId ? deployment.trouble.failures : 0;
  const error = errorOf(message, nowMs);
  deployment.trouble = { jobId, failures: before + 1, notBeforeMs: nowMs + writeDelayMs(before + 1), error };
  if (!TARGETS[deployment.kind].keepsLink) writeInterrupted(deployment, { jobId });
}

/** Until the next write has ended, the deployment may have the files of several jobs. */
export function writeInterrupted(deployment: MutableDeployment, { jobId }: Pick<Job, 'jobId'>): void {
  if (TARGETS[deployment.kind].longWrite !== null && deployment.written?.jobId !== jobId) deployment.written = null;
}

/** Its status said so. */
export function seenServed(deployment: MutableDeployment, jobId: string, at: string): void {
  deployment.answer = { jobId, verdict: 'served', at, why: null };
  deployment.lastGood = jobId;
  if (deployment.withheld?.jobId === jobId) deployment.withheld = null;
}

export function seenOtherwise(
  deployment: MutableDeployment,
  answer: { jobId: string; verdict: 'other' | 'unknown'; why: string; at: string },
): void {
  deployment.answer = { ...answer, why: answer.why.slice(0, MAX_TEXT) };
}

export function withhold(deployment: MutableDeployment, jobId: string, why: string, at: string): void {
  deployment.withheld = { jobId, why: why.slice(0, MAX_TEXT), at };
}

/** The pull request was merged. */
export function proposalMerged(deployment: MutableDeployment, nowMs: number): void {
  const { proposed, written } = deployment;
  if (proposed === null) return;
  const { jobId, version, link } = proposed;
  const at = written?.jobId === jobId ? written.at : new Date(nowMs).toISOString();
  deployment.written = { jobId, version, at, tookMs: 0, link, bundlePath: null };
  if (deployment.answer?.jobId !== jobId) deployment.answer = null;
  if (deployment.confirm === null) deployment.lastGood = jobId;
  deployment.proposed = null;
}

/**
 * A person closed the pull request: the version is skipped here, as if it had been rejected. If it only refreshed the link of
 * what is there, that link ends: operators are told, and it is proposed again once the pull request is reopened.
 */
export function proposalClosed(deployment: MutableDeployment, { jobId }: Pick<Job, 'jobId'>, nowMs: number): void {
  const { written } = deployment;
  deployment.proposed = null;
  if (written?.jobId === jobId) {
    const error = errorOf('the pull request with a fresh link was closed without merging it: reopen it', nowMs);
    deployment.trouble = { jobId, failures: 1, notBeforeMs: nowMs + CLOSED_REFRESH_MS, error };
    return;
  }
  deployment.rejected = jobId;
  deployment.begun = written?.jobId ?? null;
  deployment.trouble = null;
}

export function pinSearched(
  deployment: MutableDeployment,
  pin: string,
  result: { againAtMs: number | null; versions: string[] },
): void {
  if (deployment.pin === pin) deployment.pinSearch = { pin, ...result };
}

/** The jobs that its record names. They are never forgotten. */
export function jobsOf({ begun, written, proposed, lastGood, approved }: Deployment): (string | null)[] {
  return [begun, written?.jobId ?? null, proposed?.jobId ?? null, lastGood, approved];
}

export function errorOf(message: string, nowMs: number, status: number | null = null): SiteError {
  return { message: message.slice(0, MAX_TEXT), status, at: new Date(nowMs).toISOString() };
}

function newDeployment(settings: DeploymentSettings, epochMs: number): MutableDeployment {
  return {
    ...settings,
    pin: null,
    off: false,
    approved: null,
    rejected: null,
    withheld: null,
    fence: { epoch: epochMs, sequence: 0, takeover: null },
    begun: null,
    written: null,
    proposed: null,
    answer: null,
    lastGood: null,
    trouble: null,
    pinSearch: null,
  };
}
