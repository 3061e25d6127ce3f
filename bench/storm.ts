import { Command } from 'commander';
import { machine, progress } from './machine.ts';
import { quarters } from './storm/memory.ts';
import { runStorm, type Storm } from './storm/run-storm.ts';
import { table } from './table.ts';
import { wholeNumber } from './whole-number.ts';

const HELP = `
The receiver (\`galley api\`), the worker (\`galley worker\`), Temporal's dev server and the sender run in separate
processes. A fake Admin API counts concurrent exports. The bench searches all runs of the site's workflow for the signal
of every acknowledged delivery.`;

type Options = { deliveries: number; inFlight: number };

export function stormBench(): Command {
  return new Command('storm')
    .description('100,000 deliveries to one site: losses, cost, and whether memory stays flat')
    .option('--deliveries <n>', 'number of deliveries', wholeNumber, 100_000)
    .option('--in-flight <n>', 'concurrent deliveries', wholeNumber, 256)
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const conditions = machine();
      const storm = await runStorm(options, { progress });
      process.stdout.write(`\n${report(storm)}\n${conditions}\n`);
    });
}

function report(storm: Storm): string {
  const { sent, runs, memory } = storm;
  const events = runs.map((run) => run.events);
  const signals = runs.reduce((sum, run) => sum + run.signals, 0);
  const facts = table([
    ['acknowledged with 202', String(sent.acknowledged)],
    ['  of these missing in the workflow', String(storm.missing)],
    ['  per second', (sent.acknowledged / sent.seconds).toFixed(0)],
    ['rejected with 503 and resent', String(sent.refused)],
    ['signaled twice and deduplicated by the workflow', String(storm.twice)],
    ['signals', String(signals)],
    ['exports', String(storm.exports)],
    ['  most at a time', String(storm.mostAtATime)],
    ['  one for the last publish', storm.lastExported ? 'yes' : 'NO'],
    ["runs of the site's workflow", String(runs.length)],
    ['  events in the longest history', String(Math.max(...events))],
  ]);
  const sizes = table([
    ['resident memory, MB', '1st quarter', '2nd', '3rd', 'last'],
    ...Object.entries(memory).map(([name, samples]) => [name, ...quarters(samples).map((size) => size.toFixed(0))]),
  ]);
  return `${facts}\nhistories: ${events.join(', ')} events\n\n${sizes}`;
}
