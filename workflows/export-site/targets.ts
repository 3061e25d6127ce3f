import type { BundleLink } from '../../activities/admin-api/create-bundle.ts';
import type { DeploymentReport } from '../../activities/deployments/deployment-target.ts';
import { backoff } from '../../base/backoff.ts';
import type { PinnedFile, SiteSettings, TargetSummary } from '../../contract/settings.ts';
import type { SiteError } from '../../contract/site-state.ts';
import { TARGETS } from '../../contract/target-kind.ts';
import type { JobLink, MutableDeployment, MutableState, SiteDeployment, State } from './state.ts';

/** The live job, the deployments that serve it or the job of a pin, and the links of these jobs. */

export type LiveJob = NonNullable<MutableState['newest']>;

const writeDelayMs = backoff({ firstMs: 5_000, maxMs: 60_000 });

const MAX_JOBS = 50;
const MAX_LINKS = 100;

/** The job that a deployment has to serve: the newest one, or that of the operator's pin. Null if there is none. */
export function wantedJobId({ live, jobs }: State, target: SiteDeployment): string | null {
  if (live === null) return null;
  if (!target.held || target.pin === null || target.pin === live.version) return live.jobId;
  // A deployment with an unknown pin keeps its job, and its link is refreshed.
  return jobs.find((job) => job.version === target.pin)?.jobId ?? target.jobId;
}

/** The jobs whose links are in use. Without any deployment that is the newest one. */
export function jobsInUse(state: State): string[] {
  if (state.live === null) return [];
  if (state.targets.length === 0) return [state.live.jobId];
  const needsLink = (target: SiteDeployment): boolean =>
    TARGETS[target.kind].keepsLink || isBehind(state, target, Number.POSITIVE_INFINITY);
  return [...new Set(state.targets.filter(needsLink).flatMap((target) => wantedJobId(state, target) ?? []))];
}

/** Whether a deployment has to be written to, and its back-off is over. One that is being written to hasn't. */
export function isBehind(state: State, target: SiteDeployment, nowMs: number): boolean {
  if (target.writing) return false;
  const wanted = wantedJobId(state, target);
  const behind = (wanted !== null && wanted !== target.jobId) || target.error !== null;
  return behind && (target.retryAtMs ?? 0) <= nowMs;
}

/** When to search the service for the job of an unknown pin: once, and again if the search failed. Null for never. */
export function pinSearchAtMs({ jobs }: State, target: SiteDeployment): number | null {
  if (!target.held || jobs.some((job) => job.version === target.pin)) return null;
  return target.pin === target.searchedPin ? target.searchAgainAtMs : 0;
}

/** The link in use that expires first. */
export function firstToExpire(state: State): JobLink | null {
  const used = new Set(jobsInUse(state));
  const links = state.links.filter((link) => used.has(link.jobId) && link.obtainedAtMs > 0);
  return links.reduce<JobLink | null>((first, link) => (first && endOf(first) <= endOf(link) ? first : link), null);
}

function endOf(link: JobLink): number {
  return link.obtainedAtMs + link.lifetimeMs;
}

export function setLive(state: MutableState, job: LiveJob, link: BundleLink, rolledBack: boolean): void {
  state.live = { ...job, rolledBack };
  state.refresh.goneJobId = null;
  state.refreshError = null;
  if (job.version !== null) rememberVersion(state, job.jobId, job.version, job.exportedAt);
  rememberLink(state, job.jobId, link);
}

function rememberVersion(state: MutableState, jobId: string, version: string, exportedAt: string | null): void {
  state.jobs = [{ jobId, version, exportedAt }, ...otherJobs(state, jobId, version)].slice(0, MAX_JOBS);
}

/** The job of a pin, found at the service. Last in the list: no automatic rollback goes to it. */
export function rememberPinned(state: MutableState, jobId: string, version: string): void {
  const others = otherJobs(state, jobId, version).slice(0, MAX_JOBS - 1);
  state.jobs = [...others, { jobId, version, exportedAt: null }];
}

function otherJobs({ jobs }: State, jobId: string, version: string): State['jobs'][number][] {
  return jobs.filter((job) => job.jobId !== jobId && job.version !== version);
}

export function rememberLink(state: MutableState, jobId: string, link: BundleLink): void {
  const { expiresAt, obtainedAtMs, lifetimeMs } = link;
  keepLink(state, { jobId, expiresAt, obtainedAtMs, lifetimeMs, failures: 0, notBeforeMs: 0 });
}

/** The service gives links again. */
export function linkRefreshed(state: MutableState, jobId: string): void {
  const link = state.links.find((candidate) => candidate.jobId === jobId);
  if (link !== undefined) keepLink(state, { ...link, failures: 0, notBeforeMs: 0 });
}

export function linkRefreshFailed(state: MutableState, jobId: string, error: SiteError, notBeforeMs: number): void {
  state.refreshError = error;
  const never = { jobId, expiresAt: null, obtainedAtMs: 0, lifetimeMs: 0, failures: 0 };
  const link = state.links.find((candidate) => candidate.jobId === jobId) ?? never;
  keepLink(state, { ...link, failures: link.failures + 1, notBeforeMs });
}

/** Forgets the links that are no longer in use. */
function keepLink(state: MutableState, link: JobLink): void {
  const used = new Set(jobsInUse(state));
  const others = state.links.filter((other) => other.jobId !== link.jobId && used.has(other.jobId));
  state.links = [link, ...others].slice(0, MAX_LINKS);
}

/** Takes over the configured deployments and what their operators have set. Returns whether anything changed. */
export function configureTargets(
  state: MutableState,
  { valuesFiles, targets, pins }: Pick<SiteSettings, 'valuesFiles' | 'targets' | 'pins'>,
): boolean {
  const before = state.targets;
  state.targets = adoptTargets(before, valuesFiles, targets);
  const pinsChanged = adoptPins(state, pins);
  return pinsChanged || state.targets.some((target, index) => target !== before[index]);
}

/** Keeps the known deployments that are still configured, and adds the new ones. */
export function adoptTargets(
  targets: readonly MutableDeployment[],
  names: readonly string[],
  summaries: readonly TargetSummary[] = [],
): MutableDeployment[] {
  return names.map((name) => {
    const known = targets.find((target) => target.valuesFile === name);
    return known ?? newTarget(summaries.find((summary) => summary.name === name) ?? { name, kind: 'valuesFile' });
  });
}

/** A pin on another version than the newest holds its deployment. Returns whether any pin or switch changed. */
export function adoptPins(state: MutableState, pins: readonly PinnedFile[]): boolean {
  const newest = state.live?.version ?? null;
  let changed = false;
  for (const { valuesFile, pin: text, off } of pins) {
    const pin = text?.slice(0, 200) ?? null;
    const target = targetOf(state, valuesFile);
    if (target === undefined) continue;
    if (adoptSwitch(state, target, off)) changed = true;
    if (target.pin === pin) continue;
    target.pin = pin;
    target.held = pin !== null && newest !== null && pin !== newest;
    changed = true;
  }
  return changed;
}

/** A pin or switch that an operator changed while the deployment was held or off. Returns false for an unknown file. */
export function releasePin(state: MutableState, { valuesFile, pin, off }: PinnedFile): boolean {
  const target = targetOf(state, valuesFile);
  if (target === undefined) return false;
  adoptSwitch(state, target, off);
  if (target.pin !== pin) {
    target.pin = pin?.slice(0, 200) ?? null;
    target.held = target.pin !== null;
  }
  return true;
}

/** A deployment that is switched on again gets its job again, because its file may be an old copy. */
function adoptSwitch(state: MutableState, target: MutableDeployment, off: boolean): boolean {
  // Before the first deploy, `enabled: false` is not the operator's.
  if (off === target.off || (off && target.jobId === null)) return false;
  target.off = off;
  const isKnown = !target.held || state.jobs.some((job) => job.version === target.pin);
  if (!off && isKnown) target.jobId = null;
  return true;
}

export function beginPinSearch(target: MutableDeployment): void {
  target.searchedPin = target.pin;
  target.searchAgainAtMs = null;
}

export function repeatPinSearch(target: MutableDeployment, atMs: number): void {
  target.searchAgainAtMs = atMs;
}

/** A write returned the deployment's present state. */
export function applyReport(
  target: MutableDeployment,
  report: DeploymentReport,
  written: { jobId: string; version: string | null; newest: boolean },
): void {
  if (report.outcome === 'foreign') {
    writeFailed(target, `it belongs to the site ${report.owner?.site}, which must be removed first`);
    return;
  }
  const { jobId, version, newest } = written;
  target.pin = report.pin?.slice(0, 200) ?? null;
  target.off = report.off;
  target.held = report.outcome === 'held' || (report.outcome === 'written' && !newest);
  if (report.jobId !== target.jobId) target.version = report.jobId === jobId ? version : null;
  target.jobId = report.jobId;
  if (report.outcome === 'superseded') {
    writeFailed(target, 'a newer write than this workflow knows of is there already');
    return;
  }
  if (report.outcome === 'older') {
    writeFailed(target, `${jobId} is older than what is deployed: a new export is needed`);
    return;
  }
  if (report.outcome === 'written') {
    target.version = version;
    target.updatedAt = new Date().toISOString();
  }
  target.error = null;
  target.failedAt = null;
  target.failures = 0;
  target.retryAtMs = null;
}

export function setWriting(target: MutableDeployment, writing: boolean): void {
  target.writing = writing;
}

/** Until the next write has ended, the deployment may have the files of several jobs. */
export function writeReplaced(target: MutableDeployment): void {
  target.jobId = null;
  target.version = null;
}

export function writeFailed(target: MutableDeployment, message: string): void {
  target.failures++;
  target.error = message.slice(0, 500);
  target.failedAt = new Date().toISOString();
  target.retryAtMs = Date.now() + writeDelayMs(target.failures);
}

/** Whether a deployment serves the live job, and this wasn't reported before. Then it is now. */
export function reportServed(state: MutableState): boolean {
  const { live, targets } = state;
  if (live === null || state.reportedServed === live.jobId) return false;
  const isServed = targets.some(
    ({ jobId, held, off, error, confirmation }) =>
      jobId === live.jobId && !held && !off && error === null && confirmation?.servedAt !== null,
  );
  if (isServed) state.reportedServed = live.jobId;
  return isServed;
}

export function nextSequence(state: MutableState): number {
  state.sequence++;
  return state.sequence;
}

/** After a reset or a restored database the workflow is behind its own writes, but still decides. */
export function catchUpSequence(state: MutableState, seen: DeploymentReport['owner']): void {
  if (seen?.epoch === state.epochMs) state.sequence = Math.max(state.sequence, seen.sequence);
}

function targetOf(state: MutableState, valuesFile: string): MutableDeployment | undefined {
  return state.targets.find((target) => target.valuesFile === valuesFile);
}

function newTarget({
  name,
  kind,
  host = null,
}: Omit<TargetSummary, 'host'> & { host?: string | null | undefined }): MutableDeployment {
  return {
    valuesFile: name,
    kind,
    host,
    writing: false,
    jobId: null,
    version: null,
    updatedAt: null,
    pin: null,
    held: false,
    off: false,
    searchedPin: null,
    searchAgainAtMs: null,
    confirmation: null,
    error: null,
    failedAt: null,
    failures: 0,
    retryAtMs: null,
  };
}
