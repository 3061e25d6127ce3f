import { ApplicationFailure } from '@temporalio/workflow';
import { rereadSettings } from '../settings/read-settings.ts';
import { readFailure } from '../trouble/failures.ts';
import { createBundle, readExport } from './activity-proxies.ts';
import { deploy } from './deploy.ts';
import { cancelJob } from './export-cycle.ts';
import { rememberLink, setLive } from './live-job.ts';
import type { SiteRun } from './site-run.ts';
import { sourceOf } from './site-settings.ts';

/**
 * Deploys an earlier job. What was published so far, exported or not, is thereby set aside: the rollback holds until
 * the next publish. Throws where the service gives no link for the job; then nothing has changed.
 */
export async function rollBack(run: SiteRun, jobId: string): Promise<void> {
  await rereadSettings(sourceOf(run));
  const { unconfigured, settings } = run.memory;
  if (settings === null) throw refusal(jobId, unconfigured?.message ?? 'the site was never configured');
  const link = await obtainLink(run, jobId);
  const { memory, exportScope } = run;
  const abandoned = memory.exporting;
  const known = memory.jobs.find((job) => job.jobId === jobId);
  const version = link.version ?? known?.version ?? null;
  const exportedAt = known?.exportedAt ?? link.exportedAt ?? new Date().toISOString();

  memory.exporting = null;
  memory.pending = null;
  memory.backOff = null;
  memory.exportError = null;
  memory.attempt = 1;
  memory.cycle++;
  exportScope?.cancel();
  const { live } = memory;
  if (live !== null && !live.rolledBack) {
    const { rolledBack: _, ...before } = live;
    memory.newest ??= before;
  }
  setLive(run, { jobId, version, exportedAt, createdAt: link.createdAt ?? null }, true);
  rememberLink(memory, jobId, link);
  await deploy(run, { jobId, version, bundleUrl: link.bundleUrl, reason: 'rollback' });

  const running = abandoned?.stage === 'polling' ? abandoned.jobId : null;
  if (running !== null) await cancelJob(running, 'a rollback replaces it');
}

/** Somebody waits for the answer: two minutes outlast a restart of the service. */
const PATIENCE = '2m';

async function obtainLink(run: SiteRun, jobId: string) {
  const options = { scheduleToCloseTimeout: PATIENCE, summary: `link for the rollback to ${jobId}` } as const;
  try {
    const job = await readExport.executeWithOptions({ ...options, summary: `job of the rollback to ${jobId}` }, [
      { jobId },
    ]);
    const { domain } = run.settings;
    if (job.domain !== null && job.domain !== domain) throw refusal(jobId, `it exported ${job.domain}, not ${domain}`);
    const link = await createBundle.executeWithOptions(options, [{ jobId }]);
    return { ...link, version: link.version ?? job.version, createdAt: job.createdAt, exportedAt: job.exportedAt };
  } catch (error) {
    if (error instanceof ApplicationFailure) throw error;
    throw refusal(jobId, readFailure(error).message);
  }
}

function refusal(jobId: string, why: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${jobId} can't be deployed: ${why}`, 'RollbackFailed');
}
