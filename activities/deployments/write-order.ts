import type { DeploymentReport, DeploymentWrite } from './deployment-target.ts';
import { isOlder, isOlderJob, type Sidecar } from './sidecar.ts';

/** What a deployment remembers of the newest write to it. */
export type WrittenOrder = Pick<Sidecar, 'epoch' | 'sequence' | 'jobId' | 'version' | 'newestJobAt'>;

/** Why a write must not happen: something newer came first. Null if it may. */
export function lateOutcome(write: DeploymentWrite, current: WrittenOrder | null): 'older' | 'superseded' | null {
  if (current === null) return null;
  if (isPublished(write) && isOlderJob(write.createdAt ?? null, current)) return 'older';
  const isLate = isOlder(write, current) || (write.kind === 'refresh' && write.jobId !== current.jobId);
  return isLate ? 'superseded' : null;
}

/** The report of a write that must not happen, to a deployment without a pin; null if it may. */
export function lateReport(write: DeploymentWrite, current: WrittenOrder | null): DeploymentReport | null {
  const outcome = lateOutcome(write, current);
  if (outcome === null || current === null) return null;
  const { epoch, sequence, jobId } = current;
  return { outcome, pin: null, off: false, jobId, newest: { epoch, sequence } };
}

/** What to remember of a write that happens. */
export function orderOf(write: DeploymentWrite, current: WrittenOrder | null): WrittenOrder {
  const { epoch, sequence, jobId, version, createdAt = null } = write;
  const newestJobAt = isPublished(write) ? createdAt : (current?.newestJobAt ?? null);
  return { epoch, sequence, jobId, version, newestJobAt };
}

export function writtenReport({ epoch, sequence, jobId }: DeploymentWrite): DeploymentReport {
  return { outcome: 'written', pin: null, off: false, jobId, newest: { epoch, sequence } };
}

/** The site's newest job, not one that an operator rolled back to or pinned. */
function isPublished({ newest, rolledBack }: DeploymentWrite): boolean {
  return newest && !rolledBack;
}
