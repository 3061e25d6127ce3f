import { Command } from 'commander';
import { exportBench } from './export.ts';
import { serveBench } from './serve.ts';
import { sitesBench } from './sites.ts';
import { stormBench } from './storm.ts';
import { updateBench } from './update.ts';
import { webhooksBench } from './webhooks.ts';

const program = new Command('npm run bench --')
  .description('Measures the product on this machine: ratios travel, absolute figures do not.')
  .addHelpText('after', '\nEach bench prints progress on standard error and its figures on standard output.')
  .showHelpAfterError()
  .addCommand(webhooksBench())
  .addCommand(stormBench())
  .addCommand(sitesBench())
  .addCommand(exportBench())
  .addCommand(serveBench())
  .addCommand(updateBench());

await program.parseAsync();
// An open handle of a library must not keep a finished bench alive.
process.exit();
