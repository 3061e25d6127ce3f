import { ActivityCancellationType, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { rereadSettings } from '../entity/configuration.ts';
import { readFailure } from '../failures/read-failure.ts';
import { adminApiCall } from '../retry/activity-timeouts.ts';
import { settingsSource } from './configuration.ts';
import { createBundle, deploy, UPDATE_LINK_TIMEOUT } from './deploy.ts';
import { cancelExportJob } from './export.ts';
import type { SiteRun } from './run.ts';
import { dropExports, rollBackTo } from './transitions.ts';

const { readExport } = proxyActivities<Activities>({
  ...adminApiCall,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Deploys an earlier job until the next publish. Everything published so far is dropped, exported or not. Throws if the
 * service returns no link for the job; then nothing has changed.
 * @param versionOrJobId a version that this site exported, or the id of a job
 */
export async function rollBack(run: SiteRun, versionOrJobId: string): Promise<void> {
  await rollBackIf(run, versionOrJobId, () => true);
}

/** The same if `holds` is still true once the link is there. Returns whether it happened. */
export async function rollBackIf(run: SiteRun, versionOrJobId: string, holds: () => boolean): Promise<boolean> {
  const { jobs } = run.state;
  const known =
    jobs.find(({ jobId }) => jobId === versionOrJobId) ?? jobs.find((job) => job.version === versionOrJobId);
  const jobId = known?.jobId ?? versionOrJobId;
  await rereadSettings(settingsSource(run));
  const { unconfigured, settings } = run.state;
  if (settings === null) throw rollbackFailed(jobId, unconfigured?.message ?? 'the site was never configured');
  const link = await obtainLink(run, jobId);
  if (!holds()) return false;
  const { state, exportScope } = run;
  const dropped = state.exporting;
  const version = link.version ?? known?.version ?? null;
  const exportedAt = known?.exportedAt ?? link.exportedAt ?? new Date().toISOString();

  dropExports(state);
  exportScope?.cancel();
  rollBackTo(state, { jobId, version, exportedAt, createdAt: link.createdAt }, link);
  run.refreshScope?.cancel();
  const { bundleUrl, expiresAt } = link;
  await deploy(run, { jobId, version, bundleUrl, expiresAt, reason: 'rollback' });

  const running = dropped?.stage === 'polling' ? dropped.jobId : null;
  if (running !== null) await cancelExportJob(running, 'a rollback replaces it');
  return true;
}

async function obtainLink(run: SiteRun, jobId: string) {
  const options = {
    scheduleToCloseTimeout: UPDATE_LINK_TIMEOUT,
    summary: `link for the rollback to ${jobId}`,
  } as const;
  try {
    const job = await readExport.executeWithOptions({ ...options, summary: `job of the rollback to ${jobId}` }, [
      { jobId },
    ]);
    const { domain } = run.settings;
    if (job.domain !== null && job.domain !== domain) {
      throw rollbackFailed(jobId, `it exported ${job.domain}, not ${domain}`);
    }
    const link = await createBundle.executeWithOptions(options, [{ jobId }]);
    return { ...link, version: link.version ?? job.version, createdAt: job.createdAt, exportedAt: job.exportedAt };
  } catch (error) {
    if (error instanceof ApplicationFailure) throw error;
    throw rollbackFailed(jobId, readFailure(error).message);
  }
}

function rollbackFailed(jobId: string, why: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${jobId} can't be deployed: ${why}`, 'RollbackFailed');
}
