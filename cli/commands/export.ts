import { Command, InvalidArgumentError } from 'commander';
import type { ExportOptions } from '../export/export-once.ts';
import { FAIL_ON, type FailOn } from '../export/export-summary.ts';

export function exportCommand(): Command {
  return new Command('export')
    .argument('<domain>', "the site's domain")
    .requiredOption('--out <path>', 'an archive if it ends in .tar.gz or .tgz, otherwise a folder')
    .option('--origin <url>', 'export from here instead of the domain: scheme, host and port, loopback included')
    .option('--report <file>', 'where to write the report (JSON): broken links, redirects, what was left out and why')
    .option('--fail-on <list>', `exit 1 if the export has any of these: ${FAIL_ON.join(',')}`, failOnList)
    .option('--incremental <folder>', 'keep what the next export can reuse in this folder, and reuse what is there')
    .option('--search', 'make the bundle searchable: an index and a search page, unless the site has its own search')
    .option('--markdown', 'make a twin in Markdown for each page that has none')
    .option(
      '--prove [pages]',
      'compare pages with the origin in Chromium: a number (50 if none is given) or all',
      provePages,
    )
    .option('--json', 'print the summary as JSON')
    .description('export a site once, with a progress bar')
    .addHelpText(
      'after',
      '\nNeeds no running service. With ADMIN_API_URL and ADMIN_API_KEY, that service exports.\n' +
        'Ctrl-C ends the export and leaves nothing behind.\n' +
        'A folder must be missing, empty or an earlier export, which is replaced.\n' +
        '--prove writes proof.html and proof.json beside --out.',
    )
    .action(async (domain: string, options: ExportOptions) => {
      const { exportOnce } = await import('../export/export-once.ts');
      await exportOnce(domain, options);
    });
}

function provePages(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('expected a number of pages from 1, or all');
  return Number(text);
}

function failOnList(text: string): FailOn[] {
  return text.split(',').map((word) => {
    const known = FAIL_ON.find((each) => each === word.trim());
    if (known === undefined) throw new InvalidArgumentError(`expected a list of ${FAIL_ON.join(', ')}`);
    return known;
  });
}
