import { ActivityCancellationType, ApplicationFailure, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { TARGETS } from '../../contract/target-kind.ts';
import { waitAtMost } from '../entity/coroutines.ts';
import { isRetryable, readFailure } from '../failures/read-failure.ts';
import { adminApiCall } from '../retry/activity-timeouts.ts';
import { desiredVersion, jobOf, rollbackInForce } from './desired-version.ts';
import { cancelExportJob } from './export.ts';
import { jobRolledBack } from './histories.ts';
import { lockSite, rememberJob, rollBackTo } from './jobs.ts';
import { lanesOf, type SiteRun } from './run.ts';
import type { Job, MutableDeployment, MutableState } from './state.ts';
import { writeErrorOf } from './status.ts';
import { dropExports, endReview, releaseReview } from './transitions.ts';

/**
 * What operators do to the deployments. Each command changes the state, which takes effect as soon as it can, and waits a
 * while for that.
 */

/** Then the caller gets the state with what is under way. */
const ACTION_TIMEOUT_MS = 30_000;

const { readExport, findExport } = proxyActivities<Activities>({
  ...adminApiCall,
  scheduleToCloseTimeout: ACTION_TIMEOUT_MS,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

export type Rollback = { name: string; by: string; at: string; reason: string | null; lock: boolean };

/**
 * Deploys an earlier job until the next publish after the command, or until the site is unlocked. Everything that was published
 * before is dropped. Throws if there is no such job, or no link to it; then nothing has changed.
 */
export async function rollBack(run: SiteRun, { name, by, at, reason, lock }: Rollback): Promise<void> {
  const { state } = run;
  // What is published from now on is newer than the command, however long the rest takes.
  const after = state.accepted;
  const job = await findJob(run, name);
  const before = { rollback: state.rollback, lock: state.lock };
  rememberJob(state, job);
  if (lock) lockSite(state, { by, at, reason });
  const rollback = { jobId: job.jobId, after, by, at, reason };
  rollBackTo(state, rollback);
  const ownLock = state.lock;
  run.changes++;
  const why = await whyNoLink(run, job.jobId);
  if (why !== null) {
    if (state.rollback === rollback) state.rollback = before.rollback;
    if (state.lock === ownLock) state.lock = before.lock;
    else if (state.lock !== null) relock(state, before.lock, state.lock);
    run.changes++;
    throw refused('RollbackFailed', `${job.version ?? job.jobId} can't be deployed: ${why}`);
  }
  if (state.lock === null && rollbackInForce(state) !== rollback) {
    if (state.rollback === rollback) state.rollback = null;
    throw refused('RollbackFailed', 'a newer publish was deployed meanwhile');
  }
  markRolledBack(run, job, at);
  const dropped = state.exporting;
  dropExports(state, after);
  if (dropped !== state.exporting) await cancelDropped(run, dropped);
  await untilWritten(run);
}

/** A lock that was given meanwhile keeps what is deployed instead of what can't be. */
function relock(state: MutableState, before: MutableState['lock'], lock: NonNullable<MutableState['lock']>): void {
  state.lock = before;
  lockSite(state, lock);
}

async function cancelDropped(run: SiteRun, dropped: MutableState['exporting']): Promise<void> {
  run.exportScope?.cancel();
  const running = dropped?.stage === 'polling' ? dropped.jobId : null;
  if (running !== null) await cancelExportJob(run, running, 'a rollback replaces it');
}

function markRolledBack({ state }: SiteRun, to: Job, at: string): void {
  for (const { begun } of state.deployments)
    if (begun !== null && begun !== to.jobId) jobRolledBack(state.histories, begun, at);
}

/** By version or id, from the site's memory or the service. */
async function findJob(run: SiteRun, name: string): Promise<Job> {
  const { state, settings } = run;
  const { domain, projectId } = settings;
  const known = state.jobs.find(({ jobId }) => jobId === name) ?? state.jobs.find(({ version }) => version === name);
  if (known !== undefined) return checkDomain(run, name, known);
  if (state.settings === null) {
    throw refused('RollbackFailed', state.unconfigured?.message ?? 'the site was never configured');
  }
  try {
    const options = { summary: `job of the rollback to ${name}`.slice(0, 200) };
    const { jobId, versions } = await findExport.executeWithOptions(options, [{ domain, projectId, version: name }]);
    const job = await readExport
      .executeWithOptions(options, [{ jobId: jobId ?? name, projectId }])
      .catch((error: unknown) => {
        if (isCancellation(error) || readFailure(error).type !== 'JobGone') throw error;
        const list = versions.length === 0 ? '' : `: ${versions.join(', ')} exist`;
        throw refused('RollbackFailed', `the Admin API has no version or job ${name}${list}`);
      });
    const found = { jobId: jobId ?? name, ...job, upTo: 0, oldestPublishMs: null };
    return checkDomain(run, name, found);
  } catch (error) {
    if (error instanceof ApplicationFailure || isCancellation(error)) throw error;
    throw refused('RollbackFailed', `${name} can't be deployed: ${readFailure(error).message}`);
  }
}

/** Throws if the job exported another domain than the site has now. */
function checkDomain({ settings }: SiteRun, name: string, job: Job): Job {
  const { jobId, version, domain, createdAt, exportedAt, upTo, oldestPublishMs } = job;
  if (domain !== null && domain !== settings.domain) {
    throw refused('RollbackFailed', `${name} can't be deployed: it exported ${domain}, not ${settings.domain}`);
  }
  return { jobId, version, domain, createdAt, exportedAt, upTo, oldestPublishMs };
}

/** Why the service will never give a link of the job; null if it gives one, or may still do so. */
async function whyNoLink(run: SiteRun, jobId: string): Promise<string | null> {
  let failure: unknown;
  let isThere = false;
  const call = run.links.fresh(jobId, 0, 'deploy').then(
    () => {
      isThere = true;
    },
    (error: unknown) => {
      failure = error;
    },
  );
  await waitAtMost(() => isThere || failure !== undefined, ACTION_TIMEOUT_MS, `link of ${jobId}`);
  void call;
  if (failure === undefined || isCancellation(failure)) return null;
  const read = readFailure(failure);
  return isRetryable(read) || read.type === 'TimedOut' ? null : read.message;
}

/** Deploys the export that a guard holds. Throws if there is no link to it; then it is still held. */
export async function approveReview(run: SiteRun): Promise<void> {
  const { state } = run;
  const { review } = state;
  if (review === null) throw refused('ApproveFailed', 'no export waits for a review');
  const { jobId } = review;
  const why = await whyNoLink(run, jobId);
  if (why !== null) throw refused('ApproveFailed', `${jobId} can't be deployed: ${why}`);
  if (state.review !== review) throw refused('ApproveFailed', `${jobId} no longer waits for a review`);
  releaseReview(state);
  run.changes++;
  await untilWritten(run);
}

/** Drops the export that a guard holds. */
export function rejectReview({ state }: SiteRun): void {
  endReview(state, 'rejected');
}

/** The deployments that wait for a person, or the one of this name. */
export function waitingForApproval({ state }: SiteRun, name?: string): MutableDeployment[] {
  return state.deployments.filter(
    (each) => (name === undefined || each.name === name) && desiredVersion(state, each).reason === 'waits-for-approval',
  );
}

export async function approveDeployments(run: SiteRun, deployments: readonly MutableDeployment[]): Promise<void> {
  for (const each of deployments) each.approved = desiredVersion(run.state, each).waitsFor?.jobId ?? null;
  run.changes++;
  await untilWritten(run);
}

export function rejectDeployments(run: SiteRun, deployments: readonly MutableDeployment[]): void {
  for (const each of deployments) each.rejected = desiredVersion(run.state, each).waitsFor?.jobId ?? null;
  run.changes++;
}

/** Refreshes all links, and waits until they are written. */
export async function refreshAll(run: SiteRun): Promise<void> {
  const { state } = run;
  const askedMs = Date.now();
  state.refreshAskedMs = askedMs;
  for (const trouble of Object.values(state.linkTrouble)) trouble.notBeforeMs = 0;
  for (const each of state.deployments) if (each.trouble !== null) each.trouble.notBeforeMs = 0;
  run.changes++;
  const error = await untilWritten(run);
  if (error !== null) throw refused('RefreshFailed', error);
}

/**
 * Waits until each deployment has what it should have, with its link, or shows why not.
 * @returns the first failure, or null
 */
export async function untilWritten(run: SiteRun): Promise<string | null> {
  const { state } = run;
  const isSettled = (): boolean => state.deployments.every((each) => isAtRest(run, each));
  await waitAtMost(() => run.removed || run.draining || isSettled(), ACTION_TIMEOUT_MS, `deployments of ${run.site}`);
  const errors = state.deployments.map((each) => writeErrorOf(state, each));
  return errors.find((error) => error !== null)?.message ?? null;
}

/** Nothing is being written, and nothing that could be written waits. */
function isAtRest(run: SiteRun, deployment: MutableDeployment): boolean {
  const { state } = run;
  if (lanesOf(run, deployment.place).write !== null) return false;
  const job = jobOf(state, desiredVersion(state, deployment).job?.jobId ?? null);
  if (job === null || writeErrorOf(state, deployment) !== null) return true;
  const { written, proposed } = deployment;
  const having = proposed ?? written;
  if (having?.jobId !== job.jobId) return false;
  return !TARGETS[deployment.kind].keepsLink || (having.link?.obtainedAtMs ?? 0) >= state.refreshAskedMs;
}

function refused(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type);
}
