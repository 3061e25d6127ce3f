import { Command } from 'commander';
import { machine, progress } from './machine.ts';
import { quarters } from './storm/memory.ts';
import { runStorm, type Storm } from './storm/run-storm.ts';
import { table } from './table.ts';
import { wholeNumber } from './whole-number.ts';

const HELP = `
The receiver (\`galley api\`), the worker (\`galley worker\`), Temporal's dev server and the sender are processes of their
own; a small Admin API counts the exports that run at a time. Every delivery that was acknowledged is looked for in the
signals that the site's workflow holds, over all its runs.`;

type Options = { deliveries: number; inFlight: number };

export function stormBench(): Command {
  return new Command('storm')
    .description('100,000 deliveries to one site: what is lost, what it costs, and whether memory stays flat')
    .option('--deliveries <n>', 'how many', wholeNumber, 100_000)
    .option('--in-flight <n>', 'deliveries under way at a time', wholeNumber, 256)
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
    ['  a second', (sent.acknowledged / sent.seconds).toFixed(0)],
    ['refused with 503 and sent again', String(sent.refused)],
    ['carried twice, which the workflow knows', String(storm.twice)],
    ['signals that carried them', String(signals)],
    ['exports', String(storm.exports)],
    ['  at most at a time', String(storm.mostAtATime)],
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
