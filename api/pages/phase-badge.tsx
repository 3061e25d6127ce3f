import { Badge, type BadgeProps } from '../../ui/components/badge.tsx';

/** How each phase is named and colored. */
const PHASES: Record<string, BadgeProps> = {
  idle: { tone: 'neutral', label: 'Not published' },
  debouncing: { tone: 'busy', label: 'Collecting' },
  exporting: { tone: 'busy', label: 'Exporting' },
  bundling: { tone: 'busy', label: 'Bundling' },
  waiting: { tone: 'busy', label: 'Waiting for the limit' },
  deploying: { tone: 'busy', label: 'Deploying' },
  confirming: { tone: 'busy', label: 'Confirming' },
  live: { tone: 'good', label: 'Live' },
  locked: { tone: 'warn', label: 'Locked' },
  proposed: { tone: 'warn', label: 'Pull request open' },
  held: { tone: 'warn', label: 'Held' },
  off: { tone: 'warn', label: 'Off' },
  paused: { tone: 'warn', label: 'Paused' },
  review: { tone: 'warn', label: 'Waiting for review' },
  failed: { tone: 'bad', label: 'Failed' },
  unconfigured: { tone: 'bad', label: 'Not configured' },
};

export function PhaseBadge({ phase }: { phase: string | undefined }) {
  return <Badge {...(PHASES[phase ?? ''] ?? { tone: 'neutral' as const, label: phase ?? 'Unknown' })} />;
}

/** The options of the list's filter, in the order of a publish. */
export const PHASE_OPTIONS = Object.entries(PHASES).map(([value, { label }]) => ({ value, label }));
