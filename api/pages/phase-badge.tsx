import { PHASE_WORDS, phaseWords } from '../../contract/site-words.ts';
import { Badge, type BadgeProps } from '../../ui/components/badge.tsx';

/** How each phase is colored; neutral if it isn't here. */
const TONES: Record<string, BadgeProps['tone']> = {
  debouncing: 'busy',
  exporting: 'busy',
  bundling: 'busy',
  waiting: 'busy',
  deploying: 'busy',
  confirming: 'busy',
  live: 'good',
  locked: 'warn',
  proposed: 'warn',
  held: 'warn',
  off: 'warn',
  paused: 'warn',
  review: 'warn',
  failed: 'bad',
  unconfigured: 'bad',
};

export function PhaseBadge({ phase }: { phase: string | undefined }) {
  return <Badge tone={TONES[phase ?? ''] ?? 'neutral'} label={phaseWords(phase)} />;
}

/** The options of the list's filter, in the order of a publish. */
export const PHASE_OPTIONS = Object.entries(PHASE_WORDS).map(([value, label]) => ({ value, label }));
