import { Command } from 'commander';

interface Options {
  out: string;
  origin?: string;
  report?: string;
}

export function exportCommand(): Command {
  return new Command('export')
    .argument('<domain>', "the site's domain")
    .requiredOption('--out <file>', 'the file for the archive (tar.gz)')
    .option('--origin <url>', 'read the site from here instead of the domain: scheme, host and port, loopback included')
    .option(
      '--report <file>',
      'the file for the report (JSON): broken links, redirects, what was left out and by which rule',
    )
    .description('export a site once, with a progress bar')
    .addHelpText(
      'after',
      '\nUses the service of ADMIN_API_URL and ADMIN_API_KEY if set, otherwise the running `up`, otherwise a temporary\n' +
        'platform that leaves nothing behind. Ctrl-C cancels the export.',
    )
    .action(async (domain: string, options: Options) => {
      const { exportOnce } = await import('../export/export-once.ts');
      await exportOnce(domain, options);
    });
}
