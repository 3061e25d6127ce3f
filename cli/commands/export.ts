import { Command } from 'commander';

interface Options {
  out: string;
  origin?: string;
  report?: string;
}

export function exportCommand(): Command {
  return new Command('export')
    .argument('<domain>', 'the domain the site is published under')
    .requiredOption('--out <file>', 'where the archive (tar.gz) goes')
    .option('--origin <url>', 'export from here instead of the domain: scheme, host and port, loopback included')
    .option(
      '--report <file>',
      'where the report (JSON) goes: broken links, redirects, what was left out and by which rule',
    )
    .description('export a site once, with a progress bar')
    .addHelpText(
      'after',
      '\nBy the service of ADMIN_API_URL and ADMIN_API_KEY where set, else by the running `up`, else by a platform that is\n' +
        'started for the purpose and leaves nothing behind. Ctrl-C cancels the export.',
    )
    .action(async (domain: string, options: Options) => {
      const { exportOnce } = await import('../export/export-once.ts');
      await exportOnce(domain, options);
    });
}
