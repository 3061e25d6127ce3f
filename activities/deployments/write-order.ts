import { z } from 'zod';
import { bundlePathOf } from '../../bundle/fetch/link.ts';
import type { DeploymentReport, DeploymentWrite, Owner } from './deployment-target.ts';

/**
 * What a deployment remembers of the newest write to it. `site`, `epoch` and `sequence` are the fence, and the link's
 * expiry is the lease of its site. `newestJobAt` (RFC 3339) is when the site's newest deployed job was created, unaffected
 * by rollbacks and pins.
 */
export const writtenOrder = z.object({
  site: z.string(),
  epoch: z.int().min(0),
  sequence: z.int().min(0),
  jobId: z.string(),
  version: z.string().nullable(),
  newestJobAt: z.string().nullable(),
  expiresAt: z.string(),
  lifetimeMs: z.number(),
});
export type WrittenOrder = z.infer<typeof writtenOrder>;

type Refusal = 'foreign' | 'older' | 'superseded';

/** Why a write must not happen: the deployment is another site's, or something newer came first. Null if it may. */
export function refusalOf(write: DeploymentWrite, current: WrittenOrder | null): Refusal | null {
  if (current === null) return null;
  const fenced = fencedOutcome(write, current);
  if (fenced !== null) return fenced;
  // The job that is there may always have a fresh link, also if a newer one was there before.
  if (write.kind === 'refresh') return write.jobId === current.jobId ? null : 'superseded';
  return current.site === write.site && isPublished(write) && isOlderJob(write, current) ? 'older' : null;
}

/** The part of it that can change while a write is under way. */
export function fencedOutcome(write: DeploymentWrite, current: WrittenOrder): Refusal | null {
  const { site, epoch, sequence } = current;
  const seen = write.takeover;
  // Compare and swap.
  if (seen?.site === site && seen.epoch === epoch && seen.sequence === sequence) return null;
  if (site !== write.site) return 'foreign';
  return isBefore({ ...write, epoch: epochOf(write) }, current) ? 'superseded' : null;
}

/** The report of a write that must not happen, to a deployment without a pin; null if it may. */
export function refusedReport(write: DeploymentWrite, current: WrittenOrder | null): DeploymentReport | null {
  const outcome = refusalOf(write, current);
  if (outcome === null || current === null) return null;
  return { outcome, pin: null, off: false, jobId: current.jobId, owner: ownerOf(current), bundlePath: null };
}

/** What to remember of a write that happens. */
export function orderOf(write: DeploymentWrite, current: WrittenOrder | null): WrittenOrder {
  const { site, sequence, jobId, version, createdAt = null, expiresAt, lifetimeMs } = write;
  // The dates of another site's jobs say nothing about this one's.
  const known = current?.site === site ? current.newestJobAt : null;
  const newestJobAt = isPublished(write) ? createdAt : known;
  return { site, epoch: epochOf(write), sequence, jobId, version, newestJobAt, expiresAt, lifetimeMs };
}

export function writtenReport(write: DeploymentWrite): DeploymentReport {
  const owner = ownerOf(orderOf(write, null));
  const bundlePath = bundlePathOf(write.bundleUrl);
  return { outcome: 'written', pin: null, off: false, jobId: write.jobId, owner, bundlePath };
}

export function ownerOf({ site, epoch, sequence, expiresAt, lifetimeMs }: Owner): Owner {
  return { site, epoch, sequence, expiresAt, lifetimeMs };
}

/** Whether a write comes before another one of the same site. */
export function isBefore(a: Pick<Owner, 'epoch' | 'sequence'>, b: Pick<Owner, 'epoch' | 'sequence'>): boolean {
  return a.epoch === b.epoch ? a.sequence < b.sequence : a.epoch < b.epoch;
}

function epochOf({ epoch, takeover }: DeploymentWrite): number {
  return takeover === undefined ? epoch : takeover.epoch + 1;
}

/** False if either time is unknown. */
function isOlderJob({ createdAt = null }: DeploymentWrite, { newestJobAt }: WrittenOrder): boolean {
  return createdAt !== null && newestJobAt !== null && Date.parse(createdAt) < Date.parse(newestJobAt);
}

/** The site's newest job, not one that an operator rolled back to or pinned. */
function isPublished({ newest, rolledBack }: DeploymentWrite): boolean {
  return newest && !rolledBack;
}
