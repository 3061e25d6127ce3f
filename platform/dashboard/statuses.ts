import type { AgentJobStatus, ExportJobStatus } from '../../contract/admin-api.ts';
import type { BadgeProps } from '../../ui/components/badge.tsx';
import { CANCELLED } from '../store/export-job-transitions.ts';

/** One list of words for the states of exports and agent jobs. */
const STATUSES: Record<ExportJobStatus | AgentJobStatus, BadgeProps> = {
  queued: { tone: 'neutral', label: 'Queued' },
  running: { tone: 'busy', label: 'Running' },
  active: { tone: 'busy', label: 'Active' },
  completed: { tone: 'good', label: 'Completed' },
  failed: { tone: 'bad', label: 'Failed' },
  archived: { tone: 'neutral', label: 'Archived' },
};

type Job = { status: ExportJobStatus | AgentJobStatus; error: string | null };

/** The API has no status of its own for a canceled job: it failed, with this error. */
export function isCanceled({ error }: Pick<Job, 'error'>): boolean {
  return error === CANCELLED;
}

export function badgeOf(job: Job): BadgeProps {
  return job.status === 'failed' && isCanceled(job) ? { tone: 'neutral', label: 'Canceled' } : STATUSES[job.status];
}

/** Choices of a filter by status, after one for all. */
export function statusOptions(statuses: readonly Job['status'][]) {
  const options = statuses.map((value) => ({
    value: String(value),
    label: value === 'failed' ? 'Failed or canceled' : STATUSES[value].label,
  }));
  return [{ value: '', label: 'Any' }, ...options];
}
