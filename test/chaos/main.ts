import { Command, InvalidArgumentError } from 'commander';
import { choosePlan, describePlan } from './choose.ts';
import { playRound } from './round.ts';

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError('expected a whole number');
  return value;
};

const program = new Command('npm run chaos --')
  .description('Plays rounds of random faults against real processes, and judges what was recorded.')
  .option('--seed <number>', 'the choices of the first round; each further round has the next seed', count, 1)
  .option('--rounds <number>', 'how many rounds', count, 1)
  .option('--trace', 'print each step, and the last lines of the programs after a violation', false)
  .showHelpAfterError();
const { seed, rounds, trace } = program.parse().opts<{ seed: number; rounds: number; trace: boolean }>();

const say = (line: string): void => void process.stdout.write(`${line}\n`);
let bad = 0;
for (let round = 0; round < rounds; round++) {
  const plan = choosePlan(seed + round);
  say(describePlan(plan));
  try {
    const { violations, counts, durationMs, lastWords } = await playRound(plan, trace ? say : undefined);
    const counted = Object.entries(counts).map(([what, times]) => `${times} ${what}`);
    say(
      `seed ${plan.seed}: ${violations.length} violations, ${(durationMs / 1000).toFixed(1)} s, ${counted.join(', ')}`,
    );
    for (const { kind, what } of violations) say(`  ${kind.toUpperCase()}: ${what}`);
    if (violations.length > 0) bad += 1;
    if (violations.length > 0 && trace) say(lastWords);
  } catch (error) {
    bad += 1;
    say(`seed ${plan.seed}: the round itself failed: ${error instanceof Error ? error.stack : error}`);
  }
}
say(`${rounds} rounds, ${bad} with violations`);
// A library's open handle must not keep a finished run.
process.exit(bad === 0 ? 0 : 1);
