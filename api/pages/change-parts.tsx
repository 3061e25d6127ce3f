import type { AgentChangePhase, AgentChangeState } from '../../contract/agent-state.ts';
import type { BadgeProps } from '../../ui/components/badge.tsx';

export const CHANGE_PHASES: Record<AgentChangePhase, BadgeProps> = {
  prompting: { tone: 'busy', label: 'Prompting' },
  working: { tone: 'busy', label: 'Agent at work' },
  notifying: { tone: 'busy', label: 'Notifying' },
  'in-review': { tone: 'busy', label: 'In review' },
  revising: { tone: 'busy', label: 'Agent revises' },
  merged: { tone: 'good', label: 'Merged' },
  closed: { tone: 'neutral', label: 'Closed' },
  expired: { tone: 'warn', label: 'Expired' },
  unchanged: { tone: 'neutral', label: 'No change' },
  failed: { tone: 'bad', label: 'Failed' },
  cancelled: { tone: 'neutral', label: 'Canceled' },
};

/** Who was asked to review: on the forge, or by mail. */
export function reviewersOf({ reviewRequests, mails }: AgentChangeState): string[] {
  return [...new Set([...reviewRequests.requested, ...mails.map(({ to }) => to)])];
}
