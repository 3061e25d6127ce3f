import { Command } from 'commander';
import type { CollectedGarbage } from '../../platform/retention/collect-garbage.ts';
import type { Garbage } from '../../platform/retention/garbage.ts';
import { formatBytes } from '../../ui/format.ts';
import { withAdmin } from '../admin/with-admin.ts';
import { printJson } from '../output.ts';

export function gcCommand(): Command {
  return new Command('gc')
    .description(
      'delete what is no longer kept: exports by EXPORT_KEEP, logs, rows whose time is over, objects without an owner',
    )
    .option('--dry-run', 'only list what would be deleted, with sizes')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe schedule galley-gc in Temporal does the same every hour. Each line is a job: the page on retention in the\n' +
        'documentation says what it deletes. Works beside a running service: on DATABASE_URL and OBJECT_STORE_URL, or\n' +
        'through the running `up` of GALLEY_HOME.',
    )
    .action(async ({ dryRun = false, json }: { dryRun?: boolean; json?: boolean }) => {
      await withAdmin(async (admin) => {
        const collected = await admin.collectGarbage({ dryRun });
        if (json) printJson(collected);
        else process.stdout.write(describe(collected));
      });
    });
}

function describe({ dryRun, jobs }: CollectedGarbage): string {
  const found = jobs.filter(({ count }) => count > 0);
  if (found.length === 0) return dryRun ? 'nothing would be deleted\n' : 'nothing was to be deleted\n';
  const listed = found.map((each) => `${headOf(each)}${dryRun ? itemsOf(each) : ''}`).join('');
  if (!dryRun) return listed;
  const sizeBytes = found.reduce((sum, each) => sum + (each.sizeBytes ?? 0), 0);
  return `${listed}\nNothing was deleted. galley gc would free ${formatBytes(sizeBytes)}.\n`;
}

function headOf({ job, count, sizeBytes }: Garbage): string {
  return `${job}: ${count.toLocaleString('en-US')}${sizeBytes === null ? '' : `, ${formatBytes(sizeBytes)}`}\n`;
}

function itemsOf({ count, items }: Garbage): string {
  const more = count - items.length;
  return [...items, ...(items.length > 0 && more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : [])]
    .map((item) => `  ${item}\n`)
    .join('');
}
