import { ActivityCancellationType, isCancellation, proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { failureReason } from '../failures/read-failure.ts';
import { inPool, inPoolOf, retryPolicy } from '../retry/activity-timeouts.ts';
import { proposalClosed, proposalMerged, seenOtherwise, seenServed, withhold } from './deployments.ts';
import { actionBegan, jobRolledBack, jobServed, jobWritten } from './histories.ts';
import type { AskStep } from './next-steps.ts';
import type { SiteRun } from './run.ts';
import { inSlot } from './slots.ts';
import type { MutableDeployment } from './state.ts';

/** The second of a deployment's two lanes: what it serves. A question can stay open for hours. */

/** Both poll by their retry policy, which needs no history and no worker slot, however long it takes. */
const polling = {
  startToCloseTimeout: '20s',
  retry: retryPolicy,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const;
const { askDeployment: ask } = proxyActivities<Activities>({ ...polling, ...inPool('status') });
const { checkProposal } = proxyActivities<Activities>({ ...polling, startToCloseTimeout: '1m' });

/** Only a fault that no retry mends ends a poll, such as a missing configuration. */
const PAUSE = '1m';

/** The actor of an automatic rollback. */
const GALLEY = 'Galley';

/** Asks whether the deployment serves what was written. The state has the answer. */
export async function askDeployment(
  run: SiteRun,
  deployment: MutableDeployment,
  { job, until }: Extract<AskStep, { do: 'ask' }>,
): Promise<void> {
  const { place, name, confirm, written } = deployment;
  const { jobId } = job;
  const version = written?.version ?? job.version;
  const withinMs = confirm?.withinMs ?? 0;
  const input = {
    site: run.site,
    valuesFile: place,
    jobId,
    version,
    bundlePath: written?.bundlePath ?? null,
    withinMs,
    until,
  };
  const summary = `whether ${version ?? jobId} is served by ${name}`.slice(0, 200);
  try {
    const { verdict, why } = await inSlot(run, 'status', () => ask.executeWithOptions({ summary }, [input]));
    const at = new Date().toISOString();
    if (verdict !== 'served') return seenOtherwise(deployment, { jobId, verdict, why: why ?? '', at });
    seenServed(deployment, jobId, at);
    jobServed(run.state.histories, jobId, at);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const why = failureReason(error, 'no worker could ask it');
    seenOtherwise(deployment, { jobId, verdict: 'unknown', why, at: new Date().toISOString() });
    await sleep(PAUSE, { summary: 'before it is asked again' });
  }
}

/** Waits until the pull request with the version is merged or closed. */
export async function followProposal(run: SiteRun, deployment: MutableDeployment): Promise<void> {
  const { place, proposed } = deployment;
  if (proposed === null) return;
  const { epoch, sequence } = proposed;
  const summary = `until ${proposed.url ?? 'the proposal'} is merged`.slice(0, 200);
  const options = { summary, ...inPoolOf(deployment) };
  const state = await checkProposal
    .executeWithOptions(options, [{ site: run.site, valuesFile: place, epoch, sequence }])
    .catch(async (error: unknown) => {
      if (isCancellation(error)) throw error;
      failureReason(error, '');
      await sleep(PAUSE, { summary: 'before it is read again' });
      return null;
    });
  if (state === null) return;
  if (deployment.proposed?.jobId !== proposed.jobId) return;
  if (state === 'merged') {
    proposalMerged(deployment, Date.now());
    jobWritten(run.state.histories, proposed.jobId);
  } else proposalClosed(deployment, proposed, Date.now());
}

/** An automatic rollback: this deployment gets the version that it was last seen to serve. */
export function withholdJob(
  run: SiteRun,
  deployment: MutableDeployment,
  { job, why }: Extract<AskStep, { do: 'withhold' }>,
): void {
  const { state } = run;
  const at = new Date().toISOString();
  const good = state.jobs.find(({ jobId }) => jobId === deployment.lastGood);
  withhold(deployment, job.jobId, why, at);
  const detail = `${deployment.name}: ${good?.version ?? deployment.lastGood ?? ''}`;
  actionBegan(state.histories, { action: 'rollback', actor: GALLEY, detail });
  jobRolledBack(state.histories, job.jobId, at);
  run.changes++;
}
