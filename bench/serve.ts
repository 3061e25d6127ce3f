import { Command } from 'commander';
import { machine, progress } from './machine.ts';
import type { ContenderName } from './serve/contenders.ts';
import { runServe, type ServeFigures, type ServeOptions, type ServeSample } from './serve/run-serve.ts';
import { median } from './statistics.ts';
import { table } from './table.ts';
import { wholeNumber } from './whole-number.ts';

const HELP = `
\`galley deployment\`, sirv and one worker process of nginx serve the same folder: the version that the deployment
unpacked. wrk sends the requests from one thread. Every round measures the three servers in turn. A ratio compares two
medians of requests per second. "CPU" is the server's processor time per response, which other programs on the machine
affect less. Needs Linux, nginx and wrk (npm run setup:system).`;

/** The lowest acceptable ratio to sirv's requests per second. */
const GOAL = 0.9;

export function serveBench(): Command {
  return new Command('serve')
    .description('requests per second of a deployment against nginx and sirv on the same folder')
    .option('--rounds <n>', 'measurements per case', wholeNumber, 5)
    .option('--connections <n>', 'connections, each with one request at a time', wholeNumber, 64)
    .option('--seconds <n>', 'measured seconds per case, round and server, after 1 s of warm-up', wholeNumber, 3)
    .option('--only <text>', 'only cases whose name contains this')
    .addHelpText('after', HELP)
    .action(async (options: ServeOptions) => {
      const conditions = machine();
      const figures = await runServe(options, { progress });
      process.stdout.write(`\n${reportServe(figures)}\n${conditions}\n`);
      process.stdout.write(`${options.connections} connections, medians of ${options.rounds} rounds\n`);
    });
}

export function reportServe(figures: ServeFigures): string {
  const cases = Object.entries(figures);
  const perSecond = cases.map(([name, samples]) => {
    const of = (contender: ContenderName): number => mid(samples[contender], 'perSecond');
    const toSirv = of('galley') / of('sirv');
    const verdict = toSirv >= GOAL ? 'met' : 'MISSED';
    const all = [of('galley'), of('sirv'), of('nginx')].map((value) => value.toFixed(0));
    return [name, ...all, toSirv.toFixed(2), verdict, (of('galley') / of('nginx')).toFixed(2)];
  });
  const costs = cases.map(([name, samples]) => {
    const of = (field: keyof ServeSample): string[] => [
      mid(samples.galley, field).toFixed(3),
      mid(samples.sirv, field).toFixed(3),
      mid(samples.nginx, field).toFixed(3),
    ];
    const failed = Object.values(samples)
      .flat()
      .reduce((sum, sample) => sum + sample.failed, 0);
    return [name, ...of('cpuMs'), ...of('p99Ms'), String(failed)];
  });
  const speed = table([
    ['requests per second', 'galley', 'sirv', 'nginx', '/ sirv', `goal ${GOAL}`, '/ nginx'],
    ...perSecond,
  ]);
  const header = ['per response', 'CPU ms galley', 'sirv', 'nginx', 'p99 ms galley', 'sirv', 'nginx', 'failed'];
  return `${speed}\n${table([header, ...costs])}`;
}

function mid(samples: readonly ServeSample[], field: keyof ServeSample): number {
  return median(samples.map((sample) => sample[field]));
}
