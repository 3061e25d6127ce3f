import { Command } from 'commander';
import { exportBench } from './export.ts';
import { serveBench } from './serve.ts';
import { sitesBench } from './sites.ts';
import { sitesPageBench } from './sites-page.ts';
import { stormBench } from './storm.ts';
import { updateBench } from './update.ts';
import { webhooksBench } from './webhooks.ts';

const program = new Command('npm run bench --')
  .description('Measures Galley on this machine. Compare ratios between machines, not absolute figures.')
  .addHelpText('after', '\nEach bench prints progress on standard error and its figures on standard output.')
  .showHelpAfterError()
  .addCommand(webhooksBench())
  .addCommand(stormBench())
  .addCommand(sitesBench())
  .addCommand(sitesPageBench())
  .addCommand(exportBench())
  .addCommand(serveBench())
  .addCommand(updateBench());

await program.parseAsync();
// A library's open handle must not keep a finished bench running.
process.exit();
