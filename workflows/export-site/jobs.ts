import { jobsOf } from './deployments.ts';
import { desiredVersion, isByPublish } from './desired-version.ts';
import type { Deployment, Job, MutableState, State } from './state.ts';

/** The named changes of the exported jobs, and of which of them is in force. */

/** Besides those in use: enough to find the job of a pin or of a rollback without asking the service. */
const MAX_JOBS = 50;

/** An export that no guard holds, or that an operator approved. A rollback from before its publishes ends. */
export function jobExported(state: MutableState, job: Job): void {
  rememberJob(state, job);
  state.newest = job.jobId;
  if (state.rollback !== null && job.upTo > state.rollback.after) state.rollback = null;
}

/** Remembers a job, also one that was found at the service: its `upTo` is 0, so it never counts as newer. */
export function rememberJob(state: MutableState, job: Job): void {
  const others = state.jobs.filter(({ jobId }) => jobId !== job.jobId);
  const jobs = [job, ...others].toSorted((a, b) => b.upTo - a.upTo);
  const used = jobsInUse(state).add(job.jobId);
  let room = MAX_JOBS;
  state.jobs = jobs.filter(({ jobId }) => used.has(jobId) || room-- > 0);
  const known = new Set(state.jobs.map(({ jobId }) => jobId));
  for (const jobId of Object.keys(state.linkTrouble)) if (!known.has(jobId)) delete state.linkTrouble[jobId];
}

function jobsInUse({ newest, rollback, lock, deployments }: MutableState): Set<string> {
  const used = [
    newest,
    rollback?.jobId,
    lock?.jobId,
    ...Object.values(lock?.keeps ?? {}),
    ...deployments.flatMap(jobsOf),
  ];
  return new Set(used.filter((jobId) => jobId != null));
}

/** The service gives links of the job again, or for the first time. It may know a version that its job didn't have. */
export function linkObtained(state: MutableState, jobId: string, { version }: { version: string | null }): void {
  delete state.linkTrouble[jobId];
  // The key works again, so a refused export needn't wait any longer.
  if (state.backOff?.keyRefused)
    state.backOff = { ...state.backOff, untilMs: state.backOff.notBeforeMs, waiting: false };
  if (version === null) return;
  state.jobs = state.jobs.map((job) => (job.jobId === jobId ? { ...job, version: job.version ?? version } : job));
}

export function linkFailed(state: MutableState, jobId: string, trouble: MutableState['linkTrouble'][string]): void {
  state.linkTrouble[jobId] = trouble;
}

/**
 * Whether only a new export brings a link again: the service no longer has the bundle of the newest job. What an operator has
 * chosen is never replaced.
 */
export function isLost(state: State, deployment: Deployment, jobId: string): boolean {
  const isGone = state.newest === jobId && state.linkTrouble[jobId]?.gone === true;
  return isGone && isByPublish(desiredVersion(state, deployment).reason);
}

/** Whether an export instead of the job has to be requested: once per job. */
export function replaceJob(state: MutableState, jobId: string): boolean {
  if (state.replacedJobId === jobId) return false;
  state.replacedJobId = jobId;
  return true;
}

/** An operator's rollback, from the moment of the command. */
export function rollBackTo(state: MutableState, rollback: NonNullable<MutableState['rollback']>): void {
  state.rollback = rollback;
  if (state.lock === null) return;
  const keeps = Object.fromEntries(state.deployments.map(({ place }) => [place, rollback.jobId]));
  state.lock = { ...state.lock, jobId: rollback.jobId, keeps };
}

/** Each deployment keeps what it has, or is getting; a later one gets what most recently went anywhere. */
export function lockSite(state: MutableState, by: { by: string; at: string; reason: string | null }): void {
  const keeps = Object.fromEntries(state.deployments.map((each) => [each.place, keptJobId(state, each)]));
  const newestKept = state.jobs.find(({ jobId }) => Object.values(keeps).includes(jobId));
  state.lock = { ...by, jobId: newestKept?.jobId ?? state.newest, keeps };
}

/** Also what an operator has just rolled back to, or locked, if it isn't there yet. */
function keptJobId(state: MutableState, deployment: Deployment): string | null {
  const { job, reason } = desiredVersion(state, deployment);
  return reason === 'rolled-back' || reason === 'locked' ? (job?.jobId ?? null) : deployment.begun;
}

/** The newest version is deployed at once, whatever was rolled back before. */
export function unlockSite(state: MutableState): void {
  state.lock = null;
  state.rollback = null;
}
