import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { choosePlan, describePlan, type Plan } from './choose.ts';
import { plantFaults } from './plant.ts';
import { playRound, type Round } from './round.ts';

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError('expected a whole number');
  return value;
};

type Options = {
  seed: number;
  rounds: number;
  untilViolation: boolean;
  from?: string;
  plant?: true | string[];
  trace: boolean;
};

const program = new Command('npm run chaos --')
  .description('Plays rounds of random faults against real processes, and judges what was recorded.')
  .option('--seed <number>', 'the choices of the first round; each further round has the next seed', count, 1)
  .option('--rounds <number>', 'how many rounds', count, 1)
  .option('--until-violation', 'end after the first round with a violation', false)
  .option('--from <folder>', 'the folder of another build, which programs run until they are restarted')
  .option(
    '--plant [names...]',
    'plant faults in a copy of the product, and play up to 5 rounds for each, until it is found',
  )
  .option('--trace', 'print each step, and the last lines of the programs after a violation', false)
  .showHelpAfterError();
const options = program.parse().opts<Options>();

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => ending.abort(new Error(`ended by ${signal}`)));
}
if (options.plant !== undefined) {
  const names = options.plant === true ? [] : options.plant;
  const found = await plantFaults({ names, seed: options.seed, rounds: 5, say, signal: ending.signal });
  process.exit(found ? 0 : 1);
}

const verdicts = { right: 0, violation: 0, none: 0 };
for (let { seed } = options; seed < options.seed + options.rounds && !ending.signal.aborted; seed++) {
  const plan = choosePlan(seed);
  say(describePlan(plan));
  const verdict = await playRound(plan, {
    signal: ending.signal,
    from: options.from,
    ...(options.trace && { log: say }),
  }).then(
    (round) => report(plan, round),
    (error: unknown) => {
      say(`seed ${plan.seed}: no verdict: ${error instanceof Error ? error.stack : error}`);
      return 'none' as const;
    },
  );
  verdicts[verdict] += 1;
  if (verdict === 'violation' && options.untilViolation) break;
}
const { right, violation, none } = verdicts;
say(`${right + violation + none} rounds, ${violation} with violations, ${none} without a verdict`);
// A library's open handle must not keep a finished run.
process.exit(violation + none === 0 ? 0 : 1);

function report({ seed }: Plan, round: Round): keyof typeof verdicts {
  const { violations, noVerdict, counts, durationMs, lastWords } = round;
  const counted = Object.entries(counts).map(([what, times]) => `${times} ${what}`);
  const found = noVerdict === null ? `${violations.length} violations` : `no verdict: ${noVerdict}`;
  say(`seed ${seed}: ${found}, ${(durationMs / 1000).toFixed(1)} s, ${counted.join(', ')}`);
  for (const { kind, what } of violations) say(`  ${kind.toUpperCase()}: ${what}`);
  if (violations.length > 0 && options.trace) say(lastWords);
  if (violations.length > 0 || noVerdict !== null) say(`  recorded in ${keep(seed, round)}`);
  if (violations.length > 0) return 'violation';
  return noVerdict === null ? 'right' : 'none';
}

/** Keeps what was recorded, because the same seed may take another course next time. */
function keep(seed: number, { history }: Round): string {
  const file = join('.cache', `chaos-seed-${seed}.json`);
  mkdirSync('.cache', { recursive: true });
  writeFileSync(file, JSON.stringify(history, null, 1));
  return file;
}
