import type { DeploymentReport, DeploymentWrite } from './deployment-target.ts';
import { isOlder, isOlderJob, type Sidecar } from './sidecar.ts';

/** What a deployment remembers of the newest write to it. */
export type WrittenOrder = Pick<Sidecar, 'epoch' | 'sequence' | 'jobId' | 'version' | 'newestJobAt'>;

/** Why a write must not happen: something newer came first. Null if it may. */
export function refusalOf(write: DeploymentWrite, current: WrittenOrder | null): DeploymentReport | null {
  if (current === null) return null;
  const { epoch, sequence, jobId } = current;
  const refused = (outcome: 'older' | 'superseded'): DeploymentReport => {
    return { outcome, pin: null, off: false, jobId, newest: { epoch, sequence } };
  };
  if (isPublished(write) && isOlderJob(write.createdAt ?? null, { ...current, enabling: false }))
    return refused('older');
  const isLate = isOlder(write, current) || (write.kind === 'refresh' && write.jobId !== jobId);
  return isLate ? refused('superseded') : null;
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
  return newest && rolledBack !== true;
}
