import { Command } from 'commander';
import { machine, progress } from './machine.ts';
import { median } from './statistics.ts';
import { table } from './table.ts';
import { measureRounds, type Round } from './webhooks/rounds.ts';
import { wholeNumber } from './whole-number.ts';

const HELP = `
Each round measures these cases in turn on one in-memory Temporal dev server:
  a  signalWithStart by a bare Temporal client, one delivery per call: to one workflow, and to 20
  b  the receiver, \`galley api\`: signed deliveries for one site, and for 20
  c  an Express route that only responds with 202, with the same sender and the same bodies
The sender, the receiver and Temporal run in separate processes. By default no worker runs: the bench measures how fast
deliveries become durable, and running the workflows would slow down a and b. --worker starts one.`;

type Options = { rounds: number; inFlight: number; seconds: number; worker: boolean };

export function webhooksBench(): Command {
  return new Command('webhooks')
    .description('deliveries per second that the receiver acknowledges, compared with Temporal alone')
    .option('--rounds <n>', 'measurements per case', wholeNumber, 3)
    .option('--in-flight <n>', 'concurrent deliveries', wholeNumber, 256)
    .option('--seconds <n>', 'measured seconds per case, after 3 s of warm-up', wholeNumber, 6)
    .option('--worker', 'also run `galley worker`, which handles the signals', false)
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const conditions = machine();
      const rounds = await measureRounds(
        { ...options, warmUpMs: 3_000, measureMs: options.seconds * 1_000 },
        { progress },
      );
      process.stdout.write(`\n${report(rounds)}\n${conditions}\n`);
      process.stdout.write(
        `${options.inFlight} in flight; figures and ratios are medians of ${rounds.length} rounds\n`,
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
    row('c  Express that only responds', 'express'),
  ]);
  const ratios = table([
    ratio('b / a, one site', 'receiverOne', 'rawOne', 3),
    ratio('b / a, 20 sites', 'receiverMany', 'rawMany', 1),
    ratio('c / b, one site', 'express', 'receiverOne', null),
    ratio('c / b, 20 sites', 'express', 'receiverMany', null),
  ]);
  return `${figures}\n${ratios}`;
}
