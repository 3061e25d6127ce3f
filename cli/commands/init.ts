import { Command } from 'commander';
import type { InitOptions } from '../init/from-options.ts';

const HELP = `
Asks for the site's name, its domain or URL, and the CMS, checks each answer, and writes galley.yaml and .env beside it.
Existing files stay unless you agree or pass --overwrite. Without a terminal, add --yes; then only --domain is needed.

Examples:
  galley init
  galley init --yes --domain docs.example.com --source sanity
  galley init --yes --domain docs.example.com --origin http://127.0.0.1:8080
  galley init --yes --domain docs.example.com --admin-api https://api.example.com
  galley init --compose --yes --domain docs.example.com`;

export function initCommand(): Command {
  return new Command('init')
    .description('ask a few questions, write galley.yaml and .env, and say what to do next')
    .option('--domain <domain>', 'the domain of the site, or its URL')
    .option('--origin <url>', 'the server to export from, if not the domain: scheme, host and port')
    .option('--site <name>', 'the name of the site in galley.yaml and in URLs (default: docs)')
    .option('--source <name>', 'the CMS that publishes (default: contentful)')
    .option('--secret <secret>', 'its signing secret; - reads standard input (default: makes one)')
    .option('--values-file <file>', 'the values file of the deployment (default: values/SITE.yaml)')
    .option('--admin-api, --admin-api-url <url>', 'a hosted Admin API (default: galley up runs its own)')
    .option('--admin-api-key <key>', 'its key; - reads standard input (default: ADMIN_API_KEY)')
    .option('--project-id <id>', "the site's project there, if that service exports by project")
    .option('--temporal-address <address>', 'a Temporal service (default: galley up runs its own)')
    .option('--temporal-namespace <name>', 'its namespace (default: default)')
    .option('--temporal-api-key <key>', 'its API key')
    .option('--public-url <url>', 'the URL of this machine as the CMS reaches it')
    .option('--compose', 'write what docker-compose.yml reads beside it, and add a site if galley.yaml is there')
    .option(
      '--public-host <name>',
      'with --compose: this machine, as deployments elsewhere reach it (default: its address)',
    )
    .option('--ask-all', 'ask for what has a default, too')
    .option('--yes', 'ask nothing: use the options and defaults')
    .option('--overwrite', 'replace an existing galley.yaml, and variables in .env')
    .option('--skip-checks', 'write the files even if a server does not respond')
    .option('--json', 'print the result as JSON; asks nothing')
    .addHelpText('after', HELP)
    .action(async (options: InitOptions) => {
      const { init } = await import('../init/init.ts');
      await init(options);
    });
}
