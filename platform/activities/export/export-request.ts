import { CONTENT_CODINGS } from '../../../contract/content-coding.ts';
import type { ExportRequest } from '../../../exporter/discover/open-export.ts';
import type { Site } from '../../../exporter/document/types.ts';
import { normalizeUrl } from '../../../exporter/document/url-identity.ts';
import { hostAndPort } from '../../../exporter/fetch/address-guard.ts';
import type { Database } from '../../store/database.ts';
import { markExportJobRunning } from '../../store/export-job-transitions.ts';
import { type ExportJobRow, requestedPaths } from '../../store/export-jobs.ts';
import { getProject, type Project } from '../../store/projects.ts';

/** Marks a job as running and reads what it is to export; undefined if the job or its project is gone or has ended. */
export async function readExportRequest(db: Database, jobId: string): Promise<ExportRequest | undefined> {
  const job = await markExportJobRunning(db, jobId);
  if (job?.status !== 'running') return undefined;
  const project = await getProject(db, job.projectId);
  if (project === undefined) return undefined;
  return { projectId: project.id, settings: settingsOf(job, project), incremental: project.settings.incremental };
}

function siteOf(domain: string, project: Project): Site {
  return { domain, origin: project.origin === null ? `https://${domain}` : new URL(project.origin).origin };
}

function settingsOf(job: ExportJobRow, project: Project): ExportRequest['settings'] {
  const site = siteOf(job.domain, project);
  const { external, scripts, sourceMaps, robots, render, discover, precompress } = project.settings;
  const home = `https://${job.domain}/`;
  const paths = requestedPaths(job);
  return {
    jobId: job.id,
    version: job.version,
    createdAt: job.createdAt.toISOString(),
    site,
    operatorHosts: project.origin === null ? [] : [hostAndPort(new URL(project.origin))],
    external: external === 'keep' ? 'keep' : 'bundle',
    keepHosts: Array.isArray(external) ? external : [],
    scripts,
    sourceMaps,
    robots,
    render,
    discover,
    precompress: CONTENT_CODINGS.filter((coding) => precompress.includes(coding)),
    pages: paths === null ? null : paths.flatMap((path) => normalizeUrl(path, site, home) ?? []),
  };
}
