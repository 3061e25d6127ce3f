import type { BundleLink } from '../../activities/admin-api/create-bundle.ts';
import type { Link, SiteMemory } from './site-memory.ts';
import type { SiteRun } from './site-run.ts';
import { jobsInUse } from './targets.ts';

/** Jobs remembered for pins that name an older version. */
const KEPT_JOBS = 50;

/** Makes a job the site's newest, with the link just obtained for it. A refresh of what was there before is pointless now. */
export function setLive(
  run: SiteRun,
  job: { jobId: string; version: string | null; exportedAt: string },
  rolledBack: boolean,
): void {
  run.memory.live = { ...job, rolledBack };
  run.memory.refresh = { ...run.memory.refresh, failures: 0, notBeforeMs: 0, goneJobId: null };
  run.memory.refreshError = null;
  if (job.version !== null) rememberVersion(run.memory, job.jobId, job.version);
  run.refreshScope?.cancel();
}

/** Notes which job made a version. */
export function rememberVersion(memory: SiteMemory, jobId: string, version: string): void {
  const others = memory.jobs.filter((job) => job.jobId !== jobId && job.version !== version);
  memory.jobs = [{ jobId, version }, ...others].slice(0, KEPT_JOBS);
}

/** Notes a link's end and forgets links that nothing uses any more. */
export function rememberLink(memory: SiteMemory, jobId: string, link: BundleLink): void {
  const { expiresAt, obtainedAtMs, lifetimeMs } = link;
  const used = new Set(jobsInUse(memory));
  const others = memory.links.filter((other) => other.jobId !== jobId && used.has(other.jobId));
  memory.links = [{ jobId, expiresAt, obtainedAtMs, lifetimeMs }, ...others].slice(0, 100);
}

/** The link in use that ends first; null before the first one. */
export function firstToExpire(memory: SiteMemory): Link | null {
  const used = new Set(jobsInUse(memory));
  const links = memory.links.filter((link) => used.has(link.jobId));
  return links.reduce<Link | null>((first, link) => (first && endOf(first) <= endOf(link) ? first : link), null);
}

function endOf(link: Link): number {
  return link.obtainedAtMs + link.lifetimeMs;
}
