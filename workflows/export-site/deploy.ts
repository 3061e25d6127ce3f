import { ActivityFailure, CancellationScope, patched, TimeoutFailure } from '@temporalio/workflow';
import type { DeploymentReport } from '../../activities/deployments/deployment-target.ts';
import { backOffMs } from '../trouble/back-off.ts';
import { readFailure } from '../trouble/failures.ts';
import { writeDeployment } from './activity-proxies.ts';
import type { SiteMemory, Target } from './site-memory.ts';
import type { SiteRun } from './site-run.ts';
import { wantedJobId } from './targets.ts';

/** A fresh link, to be given to every deployment that is to serve its job. */
export type Deploy = {
  jobId: string;
  version: string | null;
  bundleUrl: string;
  /** What it is for, as the Temporal UI shows it. */
  reason: string;
};

/**
 * Tells the deployments of a link, all at once: one that hangs or fails delays no other. Each has one writer at any time,
 * and none is interrupted half-way. Never throws: what fails is kept with the deployment and tried again by the refresh.
 * Returns the first deployment that got a newer job before, null if there is none.
 */
export function deploy(run: SiteRun, link: Deploy): Promise<string | null> {
  const { memory } = run;
  // A newest job goes to all: only the file itself knows whether its pin still holds.
  const targets = memory.targets.filter(
    (target) => isNewest(memory, link) || wantedJobId(memory, target) === link.jobId,
  );
  run.deploysWaiting++;
  const [first = Promise.resolve(null), ...others] = groupsOf(targets).map((group) => inTurn(run, group, link));
  // One deployment takes no step more than in earlier releases: their histories depend on it.
  const refusedBy =
    others.length === 0
      ? first
      : Promise.all([first, ...others]).then((files) => files.find((file) => file !== null) ?? null);
  return refusedBy.finally(() => {
    run.deploysWaiting--;
    run.refreshChanges++;
  });
}

/** Deployments that are written to one after another. */
function groupsOf(targets: Target[]): Target[][] {
  if (targets.length < 2) return [targets];
  // Earlier releases wrote to all of them in turn.
  return patched('write-at-once-2026-11') ? targets.map((target) => [target]) : [targets];
}

/** Writes once every earlier write to these deployments has ended. */
function inTurn(run: SiteRun, group: Target[], link: Deploy): Promise<string | null> {
  const [earlier = Promise.resolve(), ...more] = new Set(
    group.flatMap(({ valuesFile }) => run.lastWrites.get(valuesFile) ?? []),
  );
  const before = more.length === 0 ? earlier : Promise.all([earlier, ...more]);
  const turn = before.then(() => CancellationScope.nonCancellable(() => writeGroup(run, group, link)));
  for (const { valuesFile } of group) run.lastWrites.set(valuesFile, turn);
  return turn;
}

/** Returns the first that got a newer job before, null if there is none. */
async function writeGroup(run: SiteRun, group: Target[], link: Deploy): Promise<string | null> {
  let refusedBy: string | null = null;
  const sequence = ++run.memory.sequence;
  for (const target of group) {
    if ((await write(run, target, link, sequence)) === 'older') refusedBy ??= target.valuesFile;
  }
  return refusedBy;
}

async function write({ memory }: SiteRun, target: Target, link: Deploy, sequence: number) {
  const newest = isNewest(memory, link);
  const kind = target.jobId === link.jobId ? 'refresh' : 'deploy';
  if (newest && kind === 'refresh' && wantedJobId(memory, target) !== link.jobId) return null;
  try {
    const { valuesFile } = target;
    const { jobId, version, bundleUrl } = link;
    const { createdAt = null, rolledBack = false } = (newest && memory.live) || {};
    const order = { epoch: memory.epochMs, sequence, newest, createdAt, rolledBack } as const;
    const deployedBefore = target.jobId !== null || target.off;
    const input = { valuesFile, kind, jobId, version, bundleUrl, deployedBefore, ...order } as const;
    const summary = `${kind} ${link.version ?? jobId} to ${valuesFile} (${link.reason})`.slice(0, 200);
    const report = await writeDeployment.executeWithOptions({ summary }, [input]);
    applyReport(target, report, link, newest);
    // Behind its own writes: this workflow was reset, or restored from a backup. It is still the one that decides.
    if (report.newest?.epoch === memory.epochMs) memory.sequence = Math.max(memory.sequence, report.newest.sequence);
    return report.outcome;
  } catch (error) {
    failed(target, reasonOf(error));
    return null;
  }
}

function isNewest({ live }: SiteMemory, { jobId }: Deploy): boolean {
  return live?.jobId === jobId;
}

/** Why a write failed, for people. A write that took too long was often tried before, and then failed for a reason. */
function reasonOf(error: unknown): string {
  const { type, message } = readFailure(error);
  if (type !== 'TimedOut' || !(error instanceof ActivityFailure)) return message;
  const before = error.cause instanceof TimeoutFailure ? error.cause.cause : undefined;
  return before?.message ?? 'no answer from its file system, or no worker to write it';
}

function applyReport(target: Target, report: DeploymentReport, link: Deploy, newest: boolean): void {
  target.pin = report.pin?.slice(0, 200) ?? null;
  target.off = report.off ?? false;
  target.held = report.outcome === 'held' || (report.outcome === 'written' && !newest);
  if (report.jobId !== target.jobId) target.version = report.jobId === link.jobId ? link.version : null;
  target.jobId = report.jobId;
  if (report.outcome === 'superseded') {
    failed(target, 'a newer write than this workflow knows of is there already');
    return;
  }
  if (report.outcome === 'older') {
    failed(target, `${link.jobId} is older than what is deployed: a new export is needed`);
    return;
  }
  if (report.outcome === 'written') {
    target.version = link.version;
    target.updatedAt = new Date().toISOString();
  }
  target.error = null;
  target.failedAt = null;
  target.failures = 0;
  target.retryAtMs = null;
}

function failed(target: Target, message: string): void {
  target.failures++;
  target.error = message.slice(0, 500);
  target.failedAt = new Date().toISOString();
  target.retryAtMs = Date.now() + backOffMs('refresh', target.failures);
}
