import { type AgentJobStatus, type ExportJobStatus, jobWord } from '../../contract/admin-api.ts';
import type { BadgeProps } from '../../ui/components/badge.tsx';

/** One list of words for the states of exports and agent jobs. */
const STATUSES: Record<ExportJobStatus | AgentJobStatus | 'canceled', BadgeProps> = {
  queued: { tone: 'neutral', label: 'Queued' },
  running: { tone: 'busy', label: 'Running' },
  active: { tone: 'busy', label: 'Active' },
  completed: { tone: 'good', label: 'Completed' },
  failed: { tone: 'bad', label: 'Failed' },
  canceled: { tone: 'neutral', label: 'Canceled' },
  archived: { tone: 'neutral', label: 'Archived' },
};

type Job = { status: ExportJobStatus | AgentJobStatus; error: string | null };

export function badgeOf(job: Job): BadgeProps {
  return STATUSES[jobWord(job)];
}

/** Choices of a filter by status, after one for all. */
export function statusOptions(statuses: readonly Job['status'][]) {
  const options = statuses.map((value) => ({
    value: String(value),
    label: value === 'failed' ? 'Failed or canceled' : STATUSES[value].label,
  }));
  return [{ value: '', label: 'Any' }, ...options];
}
