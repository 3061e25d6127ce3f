import { Command } from 'commander';
import { machine, progress } from './machine.ts';
import { median } from './statistics.ts';
import { table } from './table.ts';
import { measureRounds, type Round } from './webhooks/rounds.ts';
import { wholeNumber } from './whole-number.ts';

const HELP = `
On one Temporal dev server (in memory), in turn, as often as there are rounds:
  a  signalWithStart by a bare Temporal client, one delivery a call: to one workflow, and to 20
  b  the receiver, \`galley api\`: signed deliveries for one site, and for 20
  c  an Express route that only answers 202, from the same sender with the same bodies
The sender, the receiver and Temporal are processes of their own. No worker runs, for a nor for b: what is measured is
how fast deliveries become durable, and what a workflow makes of them would slow both down. --worker starts one.`;

type Options = { rounds: number; inFlight: number; seconds: number; worker: boolean };

export function webhooksBench(): Command {
  return new Command('webhooks')
    .description('how many deliveries a second the receiver acknowledges, and what Temporal alone would')
    .option('--rounds <n>', 'how often each case is measured', wholeNumber, 3)
    .option('--in-flight <n>', 'deliveries under way at a time', wholeNumber, 256)
    .option('--seconds <n>', 'how long each case is measured, after 3 s that are not', wholeNumber, 6)
    .option('--worker', 'run `galley worker` too, which takes the signals in', false)
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const conditions = machine();
      const rounds = await measureRounds(
        { ...options, warmUpMs: 3_000, measureMs: options.seconds * 1_000 },
        { progress },
      );
      process.stdout.write(`\n${report(rounds)}\n${conditions}\n`);
      process.stdout.write(
        `${options.inFlight} in flight, median of ${rounds.length} rounds; the ratios' medians too\n`,
      );
    });
}

function report(rounds: readonly Round[]): string {
  const row = (label: string, name: keyof Round): string[] => {
    const of = (field: 'perSecond' | 'p50Ms' | 'p99Ms' | 'refused'): string =>
      median(rounds.map((round) => round[name][field])).toFixed(0);
    return [label, of('perSecond'), of('p50Ms'), of('p99Ms'), of('refused')];
  };
  const ratio = (label: string, over: keyof Round, under: keyof Round, goal: number | null): string[] => {
    const value = median(rounds.map((round) => round[over].perSecond / round[under].perSecond));
    const verdict = goal === null ? '' : `goal ${goal}: ${value >= goal ? 'reached' : 'MISSED'}`;
    return [label, value.toFixed(2), verdict];
  };
  const figures = table([
    ['', 'per second', 'p50 ms', 'p99 ms', 'refused'],
    row('a  signalWithStart, one workflow', 'rawOne'),
    row('a  signalWithStart, 20 workflows', 'rawMany'),
    row('b  receiver, one site', 'receiverOne'),
    row('b  receiver, 20 sites', 'receiverMany'),
    row('c  Express that only answers', 'express'),
  ]);
  const ratios = table([
    ratio('b / a, one site', 'receiverOne', 'rawOne', 3),
    ratio('b / a, 20 sites', 'receiverMany', 'rawMany', 1),
    ratio('c / b, one site', 'express', 'receiverOne', null),
    ratio('c / b, 20 sites', 'express', 'receiverMany', null),
  ]);
  return `${figures}\n${ratios}`;
}
