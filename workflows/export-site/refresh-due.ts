import type { SiteSettings } from '../../contract/settings.ts';
import { refreshDelayMs } from './refresh-delay.ts';
import type { SiteMemory } from './site-memory.ts';
import { isBehind, jobsInUse, pinSearchAtMs, wantedJobId } from './targets.ts';

type Site = {
  site: string;
  memory: SiteMemory;
  settings: Pick<SiteSettings, 'refreshMargin' | 'minRefreshIntervalMs'>;
};

/** When something has to be renewed next, in the workflow's milliseconds; infinite if nothing is due ever. */
export function nextRefreshAtMs(site: Site): number {
  const { memory } = site;
  const jobs = jobsInUse(memory).map((jobId) => jobDueAtMs(site, jobId));
  const searches = memory.targets.flatMap((target) => pinSearchAtMs(memory, target) ?? []);
  return Math.min(...jobs, ...searches);
}

/** When a job's link is due, or one of its deployments has to be told (again); 0 is at once. */
export function jobDueAtMs({ site, memory, settings }: Site, jobId: string): number {
  const link = memory.links.find((candidate) => candidate.jobId === jobId);
  if (link === undefined) return 0;
  const delayMs = refreshDelayMs({
    lifetimeMs: link.lifetimeMs,
    marginShare: settings.refreshMargin,
    lastTookMs: memory.refresh.tookMs,
    minIntervalMs: settings.minRefreshIntervalMs,
    site,
  });
  const behind = memory.targets
    .filter((target) => wantedJobId(memory, target) === jobId && isBehind(memory, target, Number.POSITIVE_INFINITY))
    .map((target) => target.retryAtMs ?? 0);
  const dueAtMs = Math.min(link.obtainedAtMs + delayMs, ...behind);
  return link.failures > 0 ? Math.max(dueAtMs, link.notBeforeMs) : dueAtMs;
}
