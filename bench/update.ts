import { resolve } from 'node:path';
import { Command } from 'commander';
import { machine, progress } from './machine.ts';
import { median } from './statistics.ts';
import { table } from './table.ts';
import { type Fetch, runUpdate, type UpdateFigures, type UpdateOptions } from './update/run-update.ts';
import { wholeNumber } from './whole-number.ts';

const HELP = `
A deployment fetches an edition of a site over HTTP on this machine: whole into an empty folder, and as an update of the
edition before, from which some pages differ. The generated site resembles openjdk-17-doc: 10,136 pages of 28 kB on
average. Both trees are compared byte by byte with what was published. Time is from the request to the version on the
disk; bytes are those of bodies.`;

const GOALS = { bytes: 0.03, seconds: 0.2 };

export function updateBench(): Command {
  return new Command('update')
    .description('what a deployment fetches of a new version, partly against whole')
    .option('--pages <n>', 'of the generated site', wholeNumber, 10_136)
    .option('--changed <n>', 'percent of the pages', wholeNumber, 1)
    .option('--folder <dir>', 'use the files of this folder instead', (dir: string) => resolve(dir))
    .option('--runs <n>', 'how often each way is measured', wholeNumber, 3)
    .addHelpText('after', HELP)
    .action(async (options: UpdateOptions) => {
      const conditions = machine();
      const figures = await runUpdate(options, { progress });
      process.stdout.write(`\n${reportUpdate(figures)}\n${conditions}\n`);
    });
}

export function reportUpdate({ files, archiveBytes, whole, partial }: UpdateFigures): string {
  const row = (name: string, field: keyof Fetch, digits: number, unit: number): string[] => {
    const [all, part] = [whole, partial].map((runs) => median(runs.map((run) => run[field])));
    const ratio = (part ?? 0) / (all ?? 1);
    const goal = GOALS[field];
    const values = [all, part].map((value = 0) => (value / unit).toFixed(digits));
    return [name, ...values, ratio.toFixed(4), `at most ${goal}: ${ratio <= goal ? 'met' : 'MISSED'}`];
  };
  const rows = table([
    ['', 'whole', 'partial', 'ratio', 'goal'],
    row('MB', 'bytes', 2, 1_000_000),
    row('seconds', 'seconds', 2, 1),
  ]);
  return `${files} files, archive of ${(archiveBytes / 1_000_000).toFixed(1)} MB\n${rows}`;
}
