import { problemOfLink } from '../../../activities/watchdog/find-problems.ts';
import type { OpenProblem, Problem } from '../../../contract/watchdog.ts';
import { compareProblems } from '../../../workflows/watchdog/compare-problems.ts';

const MINUTE_MS = 60_000;

function problem(kind: Problem['kind'], site = 'docs'): Problem {
  return { kind, site, workflowId: `export:${site}`, detail: 'broken' };
}

/** Runs one check a minute, and returns the reports of each. */
function play(checks: Problem[][], { canReport = true } = {}): { opened: string[]; solved: string[] }[] {
  let open: OpenProblem[] = [];
  return checks.map((found, minute) => {
    const compared = compareProblems(open, found, { nowMs: minute * MINUTE_MS, canReport });
    open = compared.open;
    return { opened: compared.opened.map(({ site }) => site), solved: compared.solved.map(({ site }) => site) };
  });
}

describe('the watchdog', () => {
  it('reports a problem and its end once each, and a later problem again', () => {
    const broken = [problem('failing-tasks')];
    const others = [problem('failing-tasks', 'blog'), ...broken];
    expect(play([broken, broken, others, others, [], [], broken])).toEqual([
      { opened: ['docs'], solved: [] },
      { opened: [], solved: [] },
      { opened: ['blog'], solved: [] },
      { opened: [], solved: [] },
      { opened: [], solved: ['blog', 'docs'] },
      { opened: [], solved: [] },
      { opened: ['docs'], solved: [] },
    ]);
  });

  it('reports an unconfigured site after 10 minutes, but not if it is configured by then', () => {
    const missing = [problem('unconfigured')];
    const lasting = play(Array.from({ length: 12 }, () => missing));
    expect(lasting.flatMap(({ opened }, minute) => (opened.length > 0 ? [minute] : []))).toEqual([10]);
    const short = play([...Array.from({ length: 10 }, () => missing), []]);
    expect(short.flatMap(({ opened, solved }) => [...opened, ...solved])).toEqual([]);
  });

  it('reports a problem later if no notification was possible when it was found', () => {
    const found = [problem('link-expires')];
    const { open, opened } = compareProblems([], found, { nowMs: 0, canReport: false });
    expect(opened).toEqual([]);
    expect(compareProblems(open, found, { nowMs: MINUTE_MS, canReport: true }).opened).toEqual([
      { ...found[0], sinceMs: 0, reported: false },
    ]);
  });
});

describe('a link', () => {
  const HOUR_MS = 3_600_000;
  const listed = { site: 'docs', phase: 'live', servedPublishAtMs: null, oldestUnserved: null } as const;
  const problemsAt = (hour: number, refreshDueAtMs: number): (string | undefined)[] =>
    problemOfLink({ ...listed, linkExpiresAtMs: 24 * HOUR_MS, refreshDueAtMs }, hour * HOUR_MS).map(
      ({ detail }) => detail,
    );

  it('is a problem after half of the time between its due refresh and its expiry', () => {
    expect(problemsAt(21.9, 20 * HOUR_MS)).toEqual([]);
    expect(problemsAt(22, 20 * HOUR_MS)).toEqual([
      'its link was not refreshed and expires at 1970-01-02T00:00:00.000Z',
    ]);
    expect(problemsAt(24, 20 * HOUR_MS)).toEqual(['its link expired at 1970-01-02T00:00:00.000Z']);
  });

  it.each([-10, 10, 40])(
    'that lives for seconds is one if its refresh is a minute late (due %d s before its expiry)',
    (s) => {
      const refreshDueAtMs = 24 * HOUR_MS - s * 1_000;
      expect(problemsAt(24 + (59 - s) / 3_600, refreshDueAtMs)).toEqual([]);
      expect(problemsAt(24 + (60 - s) / 3_600, refreshDueAtMs)).toHaveLength(1);
    },
  );
});
