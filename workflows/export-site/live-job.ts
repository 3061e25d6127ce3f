import type { BundleLink } from '../../activities/admin-api/create-bundle.ts';
import type { Link, SiteMemory } from './site-memory.ts';
import type { SiteRun } from './site-run.ts';
import { jobsInUse } from './targets.ts';

/** Jobs remembered for pins that name an older version. */
const KEPT_JOBS = 50;

/** Makes a job the site's newest, with the link just obtained for it. A refresh of what was there before is pointless now. */
export function setLive(
  run: SiteRun,
  job: { jobId: string; version: string | null; exportedAt: string; createdAt: string | null },
  rolledBack: boolean,
): void {
  run.memory.live = { ...job, rolledBack };
  run.memory.refresh.goneJobId = null;
  run.memory.refreshError = null;
  if (job.version !== null) rememberVersion(run.memory, job.jobId, job.version, job.exportedAt);
  run.refreshScope?.cancel();
}

/** Notes which job made a version, and when if that is known. */
export function rememberVersion(
  memory: SiteMemory,
  jobId: string,
  version: string,
  exportedAt: string | null = null,
): void {
  const others = memory.jobs.filter((job) => job.jobId !== jobId && job.version !== version);
  memory.jobs = [{ jobId, version, exportedAt }, ...others].slice(0, KEPT_JOBS);
}

/** Notes a link's end and forgets links that nothing uses any more. */
export function rememberLink(memory: SiteMemory, jobId: string, link: BundleLink): void {
  const { expiresAt, obtainedAtMs, lifetimeMs } = link;
  keepLink(memory, { jobId, expiresAt, obtainedAtMs, lifetimeMs, failures: 0, notBeforeMs: 0 });
}

/** Notes that a job's link couldn't be renewed, and when to try again. */
export function rememberFailure(memory: SiteMemory, jobId: string, notBeforeMs: number): void {
  const never = { jobId, expiresAt: null, obtainedAtMs: 0, lifetimeMs: 0, failures: 0 };
  const link = memory.links.find((candidate) => candidate.jobId === jobId) ?? never;
  keepLink(memory, { ...link, failures: link.failures + 1, notBeforeMs });
}

function keepLink(memory: SiteMemory, link: Link): void {
  const used = new Set(jobsInUse(memory));
  const others = memory.links.filter((other) => other.jobId !== link.jobId && used.has(other.jobId));
  memory.links = [link, ...others].slice(0, 100);
}

/** The link in use that ends first; null before the first one. */
export function firstToExpire(memory: SiteMemory): Link | null {
  const used = new Set(jobsInUse(memory));
  const links = memory.links.filter((link) => used.has(link.jobId) && link.obtainedAtMs > 0);
  return links.reduce<Link | null>((first, link) => (first && endOf(first) <= endOf(link) ? first : link), null);
}

function endOf(link: Link): number {
  return link.obtainedAtMs + link.lifetimeMs;
}
