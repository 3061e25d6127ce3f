import { hash32, share } from '../generated-site/seeded.ts';
import type { ExportMoment } from './export-moment.ts';

export type Victim = 'worker' | 'postgres' | 's3';

/** What is killed, and at which share of a stage's work. `by` selects one of several workers. */
export type Strike = { victim: Victim; stage: ExportMoment['stage']; atShare: number; by: number };

/**
 * Plans kills at random moments of crawling and rewriting, in order of time. Each stage kills every kind of victim at
 * least once. The seed determines the plan.
 */
export function planStrikes(seed: number): Strike[] {
  const plan = (
    stage: Strike['stage'],
    victims: readonly Victim[],
    [from, to]: readonly [number, number],
  ): Strike[] => {
    const salt = stage === 'crawling' ? 1 : 2;
    const order = victims.map((victim, index) => ({ victim, rank: hash32(seed, salt, index) }));
    const moments = victims.map((_, index) => from + (to - from) * share(seed, salt, index, 3)).sort((a, b) => a - b);
    return order
      .sort((a, b) => a.rank - b.rank)
      .map(({ victim }, index) => ({ victim, stage, atShare: moments[index] ?? to, by: share(seed, salt, index, 4) }));
  };
  return [
    ...plan('crawling', ['worker', 'worker', 'worker', 'postgres', 's3'], [0.03, 0.9]),
    // Rewriting takes only seconds, so kills after half of it could be too late.
    ...plan('rewriting', ['worker', 'postgres', 's3'], [0, 0.5]),
  ];
}
