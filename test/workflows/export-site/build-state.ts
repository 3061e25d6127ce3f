import type { DeploymentReport } from '../../../activities/deployments/deployment-target.ts';
import {
  applyReport,
  beginWrite,
  configureDeployments,
  seenOtherwise,
  seenServed,
} from '../../../workflows/export-site/deployments.ts';
import { desiredVersion } from '../../../workflows/export-site/desired-version.ts';
import { jobExported, rollBackTo } from '../../../workflows/export-site/jobs.ts';
import { type Facts, nextSteps } from '../../../workflows/export-site/next-steps.ts';
import {
  type HeldLink,
  type Job,
  type MutableDeployment,
  type MutableState,
  newState,
} from '../../../workflows/export-site/state.ts';
import { dropExports } from '../../../workflows/export-site/transitions.ts';

/** Sites in any state, in few words: version `v2` is the job `j2`, the export of the second publish, a second after v1. */

export const NOW_MS = Date.UTC(2026, 10, 21, 12);
export const SETTINGS = { maxWaitMs: 60_000, refreshMargin: 0.2, minRefreshIntervalMs: 30_000 };
export const DAY_MS = 86_400_000;
/** It is asked what it serves, and rolled back if it serves something else. */
export const ASKED = { confirm: { withinMs: 300_000, rollback: true } };

export const timeOf = (ms: number): string => new Date(NOW_MS + ms).toISOString();

export function jobOf(version: number, changes: Partial<Job> = {}): Job {
  const at = timeOf(version * 1_000);
  const names = { jobId: `j${version}`, version: `v${version}` };
  const oldestPublishMs = NOW_MS + version * 1_000;
  return { ...names, domain: null, createdAt: at, exportedAt: at, upTo: version, oldestPublishMs, ...changes };
}

export function linkOf(changes: Partial<HeldLink> = {}): HeldLink {
  return { expiresAt: timeOf(DAY_MS), obtainedAtMs: NOW_MS, lifetimeMs: DAY_MS, ...changes };
}

/** What is known of a deployment that has the version, and serves it. */
export function has(version: number, changes: Partial<MutableDeployment> = {}): Partial<MutableDeployment> {
  const jobId = `j${version}`;
  const at = timeOf(version * 1_000);
  const written = { jobId, version: `v${version}`, at, tookMs: 0, link: linkOf(), bundlePath: null };
  const answer = { jobId, verdict: 'served', at, why: null } as const;
  return { begun: jobId, written, lastGood: jobId, answer: changes.confirm ? answer : null, ...changes };
}

/** A site with the exported versions up to `newest`, and deployments by their names. */
export function siteOf(
  newest: number,
  deployments: Record<string, Partial<MutableDeployment>> = { docs: {} },
  changes: Partial<MutableState> = {},
): MutableState {
  const state = newState(NOW_MS);
  addDeployments(state, ...Object.keys(deployments));
  for (const each of state.deployments) Object.assign(each, deployments[each.name]);
  for (let version = 1; version <= newest; version++) exported(state, version);
  return Object.assign(state, changes);
}

export function addDeployments(state: MutableState, ...names: string[]): void {
  const added = names.map((name) => {
    const values = { place: `/srv/${name}.yaml`, kind: 'valuesFile', host: null } as const;
    return { name, ...values, wave: 1, approve: false, url: `https://${name}.example.com`, confirm: null };
  });
  configureDeployments(state, [...state.deployments, ...added]);
}

export function deploymentOf({ deployments }: MutableState, name = 'docs'): MutableDeployment {
  const found = deployments.find((each) => each.name === name);
  if (found === undefined) throw new Error(`No deployment ${name}`);
  return found;
}

/** The export of a publish has ended, and no guard holds it. */
export function exported(state: MutableState, version: number): void {
  state.accepted = Math.max(state.accepted, version);
  jobExported(state, jobOf(version));
}

export function rolledBackTo(state: MutableState, version: number): void {
  const after = state.accepted;
  rollBackTo(state, { jobId: `j${version}`, after, by: 'ada', at: timeOf(0), reason: null });
  dropExports(state, after);
}

/** What a deployment should have and why, such as `v1 locked, not v2`. */
export function desired(state: MutableState, name = 'docs'): string {
  const { job, reason, waitsFor } = desiredVersion(state, deploymentOf(state, name));
  return `${job?.version ?? 'none'} ${reason}${waitsFor ? `, not ${waitsFor.version}` : ''}`;
}

/** What is done next, such as `deploy v2` and `ask v1 verdict`. `atMs` counts from `NOW_MS`. */
export function next(
  state: MutableState,
  name = 'docs',
  { atMs = 0, ...facts }: Partial<Facts> & { atMs?: number } = {},
) {
  const { write, ask } = nextSteps(state, deploymentOf(state, name), desiredOf(state, name), {
    ...{ site: 'docs', nowMs: NOW_MS + atMs, timerFired: false, write: null, ask: null, settings: SETTINGS },
    ...facts,
  });
  const words = (step: typeof write | typeof ask): string => {
    if (step.do === 'wait') return `wait ${step.untilMs - NOW_MS}`;
    if (step.do === 'find-pin') return `find-pin ${step.version}`;
    if (step.do === 'follow-proposal') return `follow-proposal ${step.jobId}`;
    if (!('job' in step)) return step.do;
    return `${step.do} ${step.job.version}${'until' in step ? ` ${step.until}` : ''}`;
  };
  return { write: words(write), ask: words(ask) };
}

const desiredOf = (state: MutableState, name: string) => desiredVersion(state, deploymentOf(state, name));

/** The deployment gets what it should have. */
export function write(state: MutableState, name = 'docs', report: Partial<DeploymentReport> = {}): void {
  const deployment = deploymentOf(state, name);
  const { job } = desiredOf(state, name);
  if (job === null) throw new Error(`Nothing to write to ${name}`);
  beginWrite(deployment, job);
  const { pin, off } = deployment;
  const wrote = { job, version: job.version, link: linkOf(), tookMs: 100, nowMs: NOW_MS };
  const written = { outcome: 'written', pin, off, jobId: job.jobId, owner: null, bundlePath: null } as const;
  applyReport(deployment, { ...written, ...report }, wrote);
}

/** It gets what it should have, and answers. */
export function writeAndAsk(state: MutableState, verdict: 'served' | 'other' | 'unknown', name = 'docs'): void {
  write(state, name);
  const deployment = deploymentOf(state, name);
  const jobId = deployment.written?.jobId ?? '';
  if (verdict === 'served') seenServed(deployment, jobId, timeOf(0));
  else seenOtherwise(deployment, { jobId, verdict, why: 'it said so', at: timeOf(0) });
}
