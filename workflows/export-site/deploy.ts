import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  CancellationScope,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { TARGETS } from '../../contract/target-kind.ts';
import { failureReason } from '../failures/read-failure.ts';
import { adminApiCall, inPoolOf, retryPolicy } from '../retry/activity-timeouts.ts';
import { beginConfirmation } from './confirmations.ts';
import { jobDeployed } from './histories.ts';
import { awaitLongWrites, replacesWrite, writeLong } from './long-writes.ts';
import { notifyServed } from './notifications.ts';
import type { SiteRun } from './run.ts';
import type { SiteDeployment, State } from './state.ts';
import { applyReport, catchUpSequence, isBehind, nextSequence, wantedJobId, writeFailed } from './targets.ts';

/** Obtains a fresh link to the bundle of a job. May be repeated, so a cancelled one is not awaited. */
export const { createBundle } = proxyActivities<Activities>({
  ...adminApiCall,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** The time for `createBundle` while a person waits for the result: enough for a restart of the service. */
export const UPDATE_LINK_TIMEOUT = '2m';

/**
 * A write takes milliseconds, or about 5 s if the lock of a killed worker has to expire first. After 8 s the failure is
 * shown in the state, and the refresh loop retries.
 */
const { writeDeployment } = proxyActivities<Activities>({
  startToCloseTimeout: '7s',
  heartbeatTimeout: '5s',
  scheduleToCloseTimeout: '8s',
  retry: { ...retryPolicy, maximumInterval: '5s' },
});

/**
 * For kinds that take longer. After three failures the state shows why, and the refresh loop retries with a fresh link.
 */
const longWriteOptions = {
  scheduleToStartTimeout: '50s',
  heartbeatTimeout: '10s',
  retry: { ...retryPolicy, maximumAttempts: 3 },
  // The next write to the same place begins when this one has ended.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} satisfies ActivityOptions;

/** A fresh link, for all deployments that serve its job. */
type Deploy = {
  jobId: string;
  version: string | null;
  bundleUrl: string;
  expiresAt: string;
  /** Shown in the Temporal UI. */
  reason: string;
  /** Only for deployments that don't have the job, or whose last write failed: the others keep their link. */
  onlyBehind?: boolean;
};

/**
 * Writes a link to all deployments of its job at the same time. Each deployment has one writer at a time, and no write is
 * interrupted. Never throws: the state records failures, and the refresh loop retries them. Returns the first deployment
 * that has a newer job, or null.
 */
export async function deploy(run: SiteRun, link: Deploy): Promise<string | null> {
  const targets = run.state.targets.filter((target) => needsWrite(run, target, link));
  run.deploysWaiting++;
  try {
    const files = targets.filter(isQuick).map((target) => writeInTurn(run, target, link));
    const others = targets
      .filter((target) => !isQuick(target))
      .map((target) => writeLong(run, target, link.jobId, () => writeAlone(run, target, link)));
    const newerAt = await Promise.all([Promise.all(files), awaitLongWrites(run, others)]);
    return newerAt.flat().find((name) => name !== null) ?? null;
  } finally {
    run.deploysWaiting--;
    run.refreshChanges++;
    notifyServed(run);
  }
}

function isQuick({ kind }: SiteDeployment): boolean {
  return TARGETS[kind].longWrite === null;
}

function needsWrite(run: SiteRun, target: SiteDeployment, link: Deploy): boolean {
  const { state } = run;
  // The newest job goes to held deployments too: only the write itself shows whether the pin still holds.
  if (!isNewest(state, link) && wantedJobId(state, target) !== link.jobId) return false;
  if (TARGETS[target.kind].keepsLink && link.onlyBehind !== true) return true;
  return isBehind(state, target, Number.POSITIVE_INFINITY) || replacesWrite(run, target, link.jobId);
}

/** Returns the deployment's name if it has a newer job. */
async function writeAlone(run: SiteRun, target: SiteDeployment, link: Deploy): Promise<string | null> {
  const outcome = await write(run, target, link, nextSequence(run.state));
  notifyServed(run);
  return outcome === 'older' ? target.valuesFile : null;
}

/** Waits for earlier writes to the same deployment. */
function writeInTurn(run: SiteRun, target: SiteDeployment, link: Deploy): Promise<string | null> {
  const earlier = run.lastWrites.get(target.valuesFile) ?? Promise.resolve();
  const turn = earlier.then(() => CancellationScope.nonCancellable(() => writeAlone(run, target, link)));
  run.lastWrites.set(target.valuesFile, turn);
  return turn;
}

async function write(run: SiteRun, target: SiteDeployment, link: Deploy, sequence: number) {
  const { state } = run;
  const newest = isNewest(state, link);
  const kind = target.jobId === link.jobId ? 'refresh' : 'deploy';
  if (newest && kind === 'refresh' && wantedJobId(state, target) !== link.jobId) return null;
  try {
    const { valuesFile, kind: targetKind } = target;
    const { jobId, version, bundleUrl, expiresAt } = link;
    const { createdAt = null, rolledBack = false } = (newest && state.live) || {};
    const order = { epoch: state.epochMs, sequence, newest, createdAt, rolledBack } as const;
    const deployedBefore = target.jobId !== null || target.off;
    const place = { site: run.site, valuesFile, ...(!isLocalFile(target) && { targetKind }) };
    const lease = { expiresAt, lifetimeMs: 0 };
    const input = { ...place, kind, jobId, version, bundleUrl, ...lease, deployedBefore, ...order } as const;
    const summary = `${kind} ${link.version ?? jobId} to ${valuesFile} (${link.reason})`.slice(0, 200);
    const report = await writeDeployment.executeWithOptions({ summary, ...optionsOf(target) }, [input]);
    applyReport(target, report, { jobId, version, newest });
    if (report.outcome === 'written') jobDeployed(state.histories, jobId);
    if (report.outcome === 'written' && newest && isConfirmed(run, target))
      beginConfirmation(target, jobId, Date.now());
    catchUpSequence(state, report.owner);
    return report.outcome;
  } catch (error) {
    if (isCancellation(error)) throw error;
    writeFailed(target, whyFailed(error, target));
    return null;
  }
}

/** Whether the deployment's status is asked what it serves. */
function isConfirmed({ settings }: SiteRun, { valuesFile }: SiteDeployment): boolean {
  return settings.confirmations.some((each) => each.valuesFile === valuesFile);
}

function isNewest({ live }: State, { jobId }: Deploy): boolean {
  return live?.jobId === jobId;
}

/** Any worker has it on its disk and needs no configuration to write it. */
export function isLocalFile({ kind, host }: SiteDeployment): boolean {
  return kind === 'valuesFile' && host === null;
}

function optionsOf(target: SiteDeployment): ActivityOptions {
  const { longWrite } = TARGETS[target.kind];
  return {
    ...(longWrite !== null && { ...longWriteOptions, ...longWrite }),
    ...inPoolOf(target),
  };
}

function whyFailed(error: unknown, { kind, host }: SiteDeployment): string {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const neverStarted = cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
  if (host !== null && (neverStarted || kind === 'valuesFile')) {
    return failureReason(error, `no worker serves the host ${host}: start one there with --deployment-host ${host}`);
  }
  if (kind === 'valuesFile') return failureReason(error, 'no answer from its file system, or no worker to write it');
  return failureReason(
    error,
    neverStarted ? 'no worker was free to write it' : 'it took too long, or its worker was lost',
  );
}
