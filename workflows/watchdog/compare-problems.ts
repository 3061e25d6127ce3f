import { type OpenProblem, type Problem, type ProblemKind, problemKey } from '../../contract/watchdog.ts';

/**
 * How long a problem has to last before it is reported, in milliseconds. While a release is rolled out, workers may have
 * different galley.yaml files.
 */
const REPORT_AFTER_MS: Record<ProblemKind, number> = {
  'failing-tasks': 0,
  'link-expires': 0,
  unconfigured: 10 * 60_000,
};

type Comparison = {
  /** What the next check continues from. */
  open: OpenProblem[];
  /** New problems to report now, once only. */
  opened: OpenProblem[];
  /** Reported earlier, and not found any more. */
  solved: OpenProblem[];
};

/**
 * Compares what a check found with what was open after the last one.
 * @param canReport false: no one can be notified, so problems stay unreported
 */
export function compareProblems(
  before: readonly OpenProblem[],
  found: readonly Problem[],
  { nowMs, canReport }: { nowMs: number; canReport: boolean },
): Comparison {
  const known = new Map(before.map((problem) => [problemKey(problem), problem]));
  const current = found.map((problem) => {
    const { sinceMs = nowMs, reported = false } = known.get(problemKey(problem)) ?? {};
    return { ...problem, sinceMs, reported };
  });
  const isDue = ({ kind, sinceMs, reported }: OpenProblem): boolean =>
    canReport && !reported && nowMs - sinceMs >= REPORT_AFTER_MS[kind];
  const foundKeys = new Set(found.map(problemKey));
  return {
    open: current.map((problem) => (isDue(problem) ? { ...problem, reported: true } : problem)),
    opened: current.filter(isDue),
    solved: before.filter((problem) => problem.reported && !foundKeys.has(problemKey(problem))),
  };
}
