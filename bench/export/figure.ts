/** The bound of a figure, as the table shows it. */
export interface Goal {
  is: 'at most' | 'at least' | 'under' | 'exactly';
  bound: number;
  /** How the table writes the bound, such as `1/12`. */
  written?: string;
}

/** One line of the table. */
export interface Figure {
  measure: string;
  /** The measured values of Galley and of its competitor, with units. */
  ours: string;
  theirs: string;
  /** The value that the goal bounds: usually the ratio of two medians. */
  value: number;
  goal: Goal;
}

/** The result of a row: its table lines, notes on them, and the figures of each run. */
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
