import { CancellationScope } from '@temporalio/workflow';
import type { DeploymentReport } from '../../activities/deployments/deployment-target.ts';
import { backOffMs } from '../trouble/back-off.ts';
import { readFailure } from '../trouble/failures.ts';
import { writeDeployment } from './activity-proxies.ts';
import type { Target } from './site-memory.ts';
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
 * Tells the deployments of a link. Calls queue up behind each other, so that there is one writer at any time, and none
 * is interrupted half-way. Never throws: what fails is kept with the deployment and tried again by the refresh.
 */
export function deploy(run: SiteRun, link: Deploy): Promise<void> {
  run.deploysWaiting++;
  const turn = run.lastDeploy.then(() => CancellationScope.nonCancellable(() => writeAll(run, link)));
  run.lastDeploy = turn.finally(() => {
    run.deploysWaiting--;
    run.refreshChanges++;
  });
  return run.lastDeploy;
}

async function writeAll(run: SiteRun, link: Deploy): Promise<void> {
  const { memory } = run;
  const sequence = ++memory.sequence;
  const newest = memory.live?.jobId === link.jobId;
  // A newest job goes to all: only the file itself knows whether its pin still holds.
  const targets = memory.targets.filter((target) => newest || wantedJobId(memory, target) === link.jobId);
  for (const target of targets) {
    const kind = target.jobId === link.jobId ? 'refresh' : 'deploy';
    if (newest && kind === 'refresh' && wantedJobId(memory, target) !== link.jobId) continue;
    try {
      const { valuesFile } = target;
      const { jobId, version, bundleUrl } = link;
      const write = { valuesFile, epoch: memory.epochMs, sequence, kind, jobId, version, newest, bundleUrl } as const;
      const summary = `${kind} ${link.version ?? jobId} to ${valuesFile} (${link.reason})`.slice(0, 200);
      const report = await writeDeployment.executeWithOptions({ summary }, [write]);
      applyReport(target, report, link, newest);
      // Behind its own writes: this workflow was reset, or restored from a backup. It is still the one that decides.
      if (report.newest?.epoch === memory.epochMs) memory.sequence = Math.max(memory.sequence, report.newest.sequence);
    } catch (error) {
      failed(target, readFailure(error).message);
    }
  }
}

function applyReport(target: Target, report: DeploymentReport, link: Deploy, newest: boolean): void {
  target.pin = report.pin?.slice(0, 200) ?? null;
  target.held = report.outcome === 'held' || (report.outcome === 'written' && !newest);
  if (report.jobId !== target.jobId) target.version = report.jobId === link.jobId ? link.version : null;
  target.jobId = report.jobId;
  if (report.outcome === 'superseded') {
    failed(target, 'a newer write than this workflow knows of is there already');
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
