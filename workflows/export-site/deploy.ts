import { ActivityCancellationType, CancellationScope, patched, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { reasonOf } from '../failures/read-failure.ts';
import { activityTimeouts, retryPolicy } from '../retry/activity-timeouts.ts';
import { jobDeployed } from './histories.ts';
import { notifyServed } from './notifications.ts';
import type { SiteRun, State, Target } from './state.ts';
import { applyReport, beginConfirmation, catchUpSequence, nextSequence, wantedJobId, writeFailed } from './targets.ts';

/** Obtains a fresh link to the bundle of a job. May be repeated, so a cancelled one is not awaited. */
export const { createBundle } = proxyActivities<Activities>({
  ...activityTimeouts,
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

/** A fresh link, for all deployments that serve its job. */
type Deploy = {
  jobId: string;
  version: string | null;
  bundleUrl: string;
  /** Shown in the Temporal UI. */
  reason: string;
};

/**
 * Writes a link to all deployments of its job at the same time. Each deployment has one writer at a time, and no write is
 * interrupted. Never throws: the state records failures, and the refresh loop retries them. Returns the first deployment
 * that has a newer job, or null.
 */
export function deploy(run: SiteRun, link: Deploy): Promise<string | null> {
  const { state } = run;
  // The newest job goes to held deployments too: only the write itself can tell whether the pin still holds.
  const targets = state.targets.filter((target) => isNewest(state, link) || wantedJobId(state, target) === link.jobId);
  run.deploysWaiting++;
  const [first = Promise.resolve(null), ...others] = groupsOf(targets).map((group) => writeInTurn(run, group, link));
  // With one deployment there must be no additional promise: recorded histories depend on the order of resolution.
  const newerAt =
    others.length === 0
      ? first
      : Promise.all([first, ...others]).then((files) => files.find((file) => file !== null) ?? null);
  return newerAt.finally(() => {
    run.deploysWaiting--;
    run.refreshChanges++;
    notifyServed(run);
  });
}

/** Deployments that are written to one after the other, as earlier releases did with all of them. */
function groupsOf(targets: Target[]): Target[][] {
  if (targets.length < 2) return [targets];
  return patched('write-at-once-2026-11') ? targets.map((target) => [target]) : [targets];
}

/** Waits for earlier writes to the same deployments. */
function writeInTurn(run: SiteRun, group: Target[], link: Deploy): Promise<string | null> {
  const [earlier = Promise.resolve(), ...more] = new Set(
    group.flatMap(({ valuesFile }) => run.lastWrites.get(valuesFile) ?? []),
  );
  const before = more.length === 0 ? earlier : Promise.all([earlier, ...more]);
  const turn = before.then(() => CancellationScope.nonCancellable(() => writeGroup(run, group, link)));
  for (const { valuesFile } of group) run.lastWrites.set(valuesFile, turn);
  return turn;
}

async function writeGroup(run: SiteRun, group: Target[], link: Deploy): Promise<string | null> {
  let newerAt: string | null = null;
  const sequence = nextSequence(run.state);
  for (const target of group) {
    if ((await write(run, target, link, sequence)) === 'older') newerAt ??= target.valuesFile;
  }
  return newerAt;
}

async function write(run: SiteRun, target: Target, link: Deploy, sequence: number) {
  const { state } = run;
  const newest = isNewest(state, link);
  const kind = target.jobId === link.jobId ? 'refresh' : 'deploy';
  if (newest && kind === 'refresh' && wantedJobId(state, target) !== link.jobId) return null;
  try {
    const { valuesFile } = target;
    const { jobId, version, bundleUrl } = link;
    const { createdAt = null, rolledBack = false } = (newest && state.live) || {};
    const order = { epoch: state.epochMs, sequence, newest, createdAt, rolledBack } as const;
    const deployedBefore = target.jobId !== null || target.off;
    const input = { valuesFile, kind, jobId, version, bundleUrl, deployedBefore, ...order } as const;
    const summary = `${kind} ${link.version ?? jobId} to ${valuesFile} (${link.reason})`.slice(0, 200);
    const report = await writeDeployment.executeWithOptions({ summary }, [input]);
    applyReport(target, report, { jobId, version, newest });
    if (report.outcome === 'written') jobDeployed(state.histories, jobId);
    if (report.outcome === 'written' && newest && isConfirmed(run, target))
      beginConfirmation(target, jobId, Date.now());
    catchUpSequence(state, report.newest);
    return report.outcome;
  } catch (error) {
    writeFailed(target, reasonOf(error, 'no answer from its file system, or no worker to write it'));
    return null;
  }
}

/** Whether the deployment's status is asked what it serves. */
function isConfirmed({ settings }: SiteRun, { valuesFile }: Target): boolean {
  const configured = settings.confirmations?.some((each) => each.valuesFile === valuesFile) === true;
  return configured && patched('confirm-2026-11');
}

function isNewest({ live }: State, { jobId }: Deploy): boolean {
  return live?.jobId === jobId;
}
