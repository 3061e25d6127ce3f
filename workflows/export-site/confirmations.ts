import type { MutableDeployment, MutableState, SiteDeployment, State } from './state.ts';

/** Whether deployments serve what was written to them, as their `statusUrl` says. */

/** The job was written; now the deployment's status must say that it serves it. */
export function beginConfirmation(target: MutableDeployment, jobId: string, nowMs: number): void {
  if (target.confirmation?.jobId === jobId) return;
  target.confirmation = { jobId, sinceMs: nowMs, servedAt: null, late: false };
}

/** The deployment serves its job. */
export function confirmServed(state: MutableState, target: MutableDeployment, at: string): void {
  if (target.confirmation === null) return;
  target.confirmation.servedAt = at;
  target.confirmation.late = false;
  if (state.notServed?.jobId === target.confirmation.jobId) state.notServed = null;
}

/** The deployment didn't serve its job in time. One report per job, however many deployments are late. */
export function confirmLate(state: MutableState, target: MutableDeployment, message: string): void {
  const { live } = state;
  if (target.confirmation === null || live === null) return;
  target.confirmation.late = true;
  const { jobId, version } = live;
  if (state.notServed?.jobId === jobId) return;
  const at = new Date().toISOString();
  state.notServed = { jobId, version, at, message: message.slice(0, 500), tried: false, rolledBackTo: null, mails: [] };
}

/** The newest job that was deployed before the live one. */
export function jobBefore({ live, jobs }: State): { jobId: string; version: string } | undefined {
  return jobs.find((job) => job.jobId !== live?.jobId);
}

/** The deployments that should serve the live job and whose status hasn't said so. */
export function unconfirmedTargets({ live, targets }: State): SiteDeployment[] {
  return targets.filter(
    ({ jobId, held, off, confirmation }) =>
      confirmation !== null &&
      confirmation.servedAt === null &&
      confirmation.jobId === live?.jobId &&
      jobId === live.jobId &&
      !held &&
      !off,
  );
}
