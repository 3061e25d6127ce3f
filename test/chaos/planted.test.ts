import { readFile } from 'node:fs/promises';
import { describeOutcomes, type Outcome, outcomeOf } from './plant.ts';
import { PLANTED } from './planted.ts';

it.each(PLANTED)('$name can be planted: $what', async ({ file, find }) => {
  expect((await readFile(file, 'utf8')).split(find)).toHaveLength(2);
});

it.each([
  ['found', ['seed 1: 0 violations, 60 s', 'seed 2: 2 violations, 60 s'], true],
  ['not found', ['seed 1: no verdict: busy', 'seed 2: 0 violations, 60 s'], false],
  ['not played', ['seed 1: 0 violations, 60 s'], true],
  ['not played', ['seed 1: no verdict: busy'], false],
  ['not played', [], false],
])('a planted fault is %s after %j (stopped: %s)', (outcome, lines, isStopped) => {
  expect(outcomeOf({ lines, isStopped })).toBe(outcome);
});

it('a run that was stopped counts only the faults that it played', () => {
  const outcomes = new Map<string, Outcome>([
    ['a', 'found'],
    ['b', 'not found'],
    ['c', 'not played'],
  ]);
  expect(describeOutcomes(['a', 'b', 'c', 'd'], outcomes)).toBe(
    '1 of 2 played faults found; not found: b; not played: c, d',
  );
});
