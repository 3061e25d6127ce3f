import { choosePlan, describePlan } from './choose.ts';
import { playRound } from './round.ts';

/** Its choices: a killed S3 server, stopped programs, cut connections, full disks, and a rollback that locks. */
const SEED = 1;

it('a round of random faults loses, doubles, mixes and leaks nothing', async () => {
  const plan = choosePlan(SEED);
  const trace: string[] = [];
  const { violations, counts, lastWords } = await playRound(plan, (line) => trace.push(line));
  if (violations.length > 0) process.stderr.write(`${describePlan(plan)}\n${trace.join('\n')}\n${lastWords}\n`);
  expect(violations).toEqual([]);
  expect(counts.publishes).toBeGreaterThan(3);
  expect(counts.faults).toBeGreaterThan(3);
});
