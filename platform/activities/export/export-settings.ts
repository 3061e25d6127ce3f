import { CONTENT_CODINGS } from '../../../contract/content-coding.ts';
import { hostAndPort } from '../../../exporter/fetch/address-guard.ts';
import type { ExportSettings } from '../../../exporter/settings.ts';
import { normalizeUrl } from '../../../exporter/urls/identity.ts';
import type { ProjectSettings } from '../../project-settings.ts';

/** A job of a domain. `paths` null: the whole site. */
type Job = {
  id: string;
  version: string;
  createdAt: Date;
  domain: string;
  paths: readonly string[] | null;
  basePath?: string | null;
};

/** The settings of a job's export, from its project's. */
export function exportSettings(
  job: Job,
  project: { origin: string | null; settings: ProjectSettings },
): Omit<ExportSettings, 'robotsTxt'> {
  const { domain, paths } = job;
  const origin = project.origin === null ? undefined : new URL(project.origin);
  const basePath = job.basePath ?? project.settings.basePath;
  // Without one, the settings are those of earlier exports, which may be reused.
  const site = { domain, origin: origin?.origin ?? `https://${domain}`, ...(basePath !== '' && { basePath }) };
  const { external, scripts, sourceMaps, robots, render, discover, precompress, search, markdown, prove } =
    project.settings;
  const home = `https://${domain}/`;
  return {
    jobId: job.id,
    version: job.version,
    createdAt: job.createdAt.toISOString(),
    site,
    operatorHosts: origin === undefined ? [] : [hostAndPort(origin)],
    external: external === 'keep' ? 'keep' : 'bundle',
    keepHosts: Array.isArray(external) ? external : [],
    scripts,
    sourceMaps,
    robots,
    render,
    discover,
    precompress: CONTENT_CODINGS.filter((coding) => precompress.includes(coding)),
    search,
    ...(markdown === 'on' && { markdown }),
    ...(prove > 0 && { prove }),
    pages: paths === null ? null : paths.flatMap((path) => normalizeUrl(path, site, home) ?? []),
  };
}
