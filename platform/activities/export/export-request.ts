import type { ExportRequest } from '../../../exporter/discover/open-export.ts';
import type { Database } from '../../store/database.ts';
import { markExportJobRunning } from '../../store/export-job-transitions.ts';
import { requestedPaths } from '../../store/export-jobs.ts';
import { getProject } from '../../store/projects.ts';
import { exportSettings } from './export-settings.ts';

/** Marks a job as running and reads what it is to export; undefined if the job or its project is gone or has ended. */
export async function readExportRequest(db: Database, jobId: string): Promise<ExportRequest | undefined> {
  const job = await markExportJobRunning(db, jobId);
  if (job?.status !== 'running') return undefined;
  const project = await getProject(db, job.projectId);
  if (project === undefined) return undefined;
  const settings = exportSettings({ ...job, paths: requestedPaths(job) }, project);
  return { projectId: project.id, settings, incremental: project.settings.incremental };
}
