import type { ExportJobStatus } from '../../../contract/admin-api.ts';
import { Badge, type Tone } from '../../../ui/components/badge.tsx';

const STATUSES: Record<ExportJobStatus, { tone: Tone; label: string }> = {
  queued: { tone: 'neutral', label: 'Queued' },
  running: { tone: 'busy', label: 'Running' },
  completed: { tone: 'good', label: 'Completed' },
  failed: { tone: 'bad', label: 'Failed' },
};

export const EXPORT_STATUS_OPTIONS = Object.entries(STATUSES).map(([value, { label }]) => ({ value, label }));

export function ExportStatus({ status }: { status: ExportJobStatus }) {
  const { tone, label } = STATUSES[status];
  return <Badge tone={tone}>{label}</Badge>;
}
