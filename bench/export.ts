import { Command, InvalidArgumentError, Option } from 'commander';
import { isMet, type RowResult } from './export/figure.ts';
import { ManualsMissing } from './export/manuals.ts';
import { report } from './export/report.ts';
import { type ExportBenchOptions, ROW_NAMES, type RowName, runExportBench } from './export/run-export-bench.ts';
import { machine, progress } from './machine.ts';
import { wholeNumber } from './whole-number.ts';

const HELP = `
Rows: ${ROW_NAMES.join(', ')}.
Needs the programs that \`npm run setup:system\` installs, wget, and the Debian packages postgresql-doc-15 and
openjdk-17-doc. PostgreSQL, Temporal's dev server, the platform, its worker, nginx with the manuals and the other
contenders each run in a separate process. Everything is stopped and removed at the end, also after Ctrl-C.`;

type Options = ExportBenchOptions & { json: boolean };

export function exportBench(): Command {
  return new Command('export')
    .description('duration and cost of an export, compared with wget and website-scraper')
    .option('--only <rows>', 'rows to measure, separated by commas', rowNames, ROW_NAMES)
    .option('--runs <n>', 'runs per contender', wholeNumber, 3)
    .option('--pages <n>', 'pages of the large generated site; the small one has a tenth', wholeNumber, 100_000)
    .option('--worker-pages <n>', 'pages of the generated site that two workers share', wholeNumber, 10_000)
    .addOption(
      new Option('--objects <store>', 'where the platform keeps objects').choices(['files', 's3']).default('files'),
    )
    .option('--json', 'print every run as JSON', false)
    .addHelpText('after', HELP)
    .action(async ({ json, ...options }: Options, command: Command) => {
      const conditions = machine();
      const results = await runExportBench(options, { progress }).catch((error: unknown) => {
        if (error instanceof ManualsMissing) command.error(error.message);
        throw error;
      });
      process.stdout.write(json ? asJson(results, conditions) : `\n${report(results, options.runs)}${conditions}\n`);
    });
}

function rowNames(text: string): RowName[] {
  return text.split(',').map((requested) => {
    const name = ROW_NAMES.find((row) => row === requested.trim());
    if (name === undefined) throw new InvalidArgumentError(`expected some of ${ROW_NAMES.join(', ')}`);
    return name;
  });
}

function asJson(results: readonly RowResult[], conditions: string): string {
  const rows = results.map(({ figures, ...rest }) => ({
    figures: figures.map((figure) => ({ ...figure, met: isMet(figure) })),
    ...rest,
  }));
  return `${JSON.stringify({ machine: conditions, rows }, null, 2)}\n`;
}
