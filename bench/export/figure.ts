/** A bound for a figure, as the table says it. */
export interface Goal {
  is: 'at most' | 'at least' | 'under' | 'exactly';
  bound: number;
  /** How to write a bound whose number is unwieldy: `1/12`. */
  written?: string;
}

/** One line of the table. */
export interface Figure {
  measure: string;
  /** What the product came to, and what it is held against, with their units. */
  ours: string;
  theirs: string;
  /** What the goal is about: mostly the ratio of two medians. */
  value: number;
  goal: Goal;
}

/** What a row of the bench gives: its lines, what else is to be known of them, and each run's own figures. */
export interface RowResult {
  figures: readonly Figure[];
  notes: readonly string[];
  samples: Readonly<Record<string, readonly unknown[]>>;
}

export function isMet({ value, goal: { is, bound } }: Figure): boolean {
  switch (is) {
    case 'at most':
      return value <= bound;
    case 'at least':
      return value >= bound;
    case 'under':
      return value < bound;
    case 'exactly':
      return value === bound;
  }
}

export function secondsText(seconds: number): string {
  return `${seconds.toFixed(2)} s`;
}
