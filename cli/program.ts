import { Command } from 'commander';
import { packageVersion } from '../programs/process/package.ts';
import { COLUMNS, wrapLines } from './output.ts';

const EXIT_CODES_HELP = `
Exit codes: 0 done, 1 the work failed, 2 the command line or configuration is wrong.
Configuration: galley.yaml (GALLEY_CONFIG) and the environment; see docs/configuration.md.`;

/** The commands in the order of the help. Each is loaded only when needed, because loading all is slow. */
const COMMANDS = new Map(
  Object.entries({
    init: async () => (await import('./commands/init.ts')).initCommand(),
    up: async () => (await import('./commands/up.ts')).upCommand(),
    api: async () => (await import('./commands/api.ts')).apiCommand(),
    worker: async () => (await import('./commands/worker.ts')).workerCommand(),
    platform: async () => (await import('./commands/platform.ts')).platformCommand(),
    'platform-worker': async () => (await import('./commands/platform-worker.ts')).platformWorkerCommand(),
    'agent-worker': async () => (await import('./commands/agent-worker.ts')).agentWorkerCommand(),
    migrate: async () => (await import('./commands/migrate.ts')).migrateCommand(),
    deployment: async () => (await import('./commands/deployment.ts')).deploymentCommand(),
    export: async () => (await import('./commands/export.ts')).exportCommand(),
    exports: async () => (await import('./commands/exports.ts')).exportsCommand(),
    keys: async () => (await import('./commands/keys.ts')).keysCommand(),
    organizations: async () => (await import('./commands/organizations.ts')).organizationsCommand(),
    members: async () => (await import('./commands/members.ts')).membersCommand(),
    projects: async () => (await import('./commands/projects.ts')).projectsCommand(),
    gc: async () => (await import('./commands/gc.ts')).gcCommand(),
    backup: async () => (await import('./commands/backup.ts')).backupCommand(),
    restore: async () => (await import('./commands/restore.ts')).restoreCommand(),
    sites: async () => (await import('./commands/sites.ts')).sitesCommand(),
    logs: async () => (await import('./commands/logs.ts')).logsCommand(),
    deliveries: async () => (await import('./commands/deliveries.ts')).deliveriesCommand(),
    agents: async () => (await import('./commands/agents.ts')).agentsCommand(),
    webhook: async () => (await import('./commands/webhook.ts')).webhookCommand(),
    config: async () => (await import('./commands/config.ts')).configCommand(),
    doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
    open: async () => (await import('./commands/open.ts')).openCommand(),
    demo: async () => (await import('./commands/demo.ts')).demoCommand(),
  }),
);

/**
 * The whole command line.
 * @param only with this command alone, if there is one of that name
 * @param completes with the commands that complete the others
 */
export async function createProgram({ only = '', completes = true } = {}): Promise<Command> {
  const program = new Command('galley')
    .description('Keeps self-hosted documentation in sync with your CMS.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', EXIT_CODES_HELP)
    .showHelpAfterError('(galley --help lists the commands)')
    .showSuggestionAfterError()
    .configureOutput({
      getOutHelpWidth: () => Math.min(process.stdout.columns ?? COLUMNS, COLUMNS),
      writeOut: (text) => process.stdout.write(wrapLines(text)),
    })
    // Commands with long arguments leave less room than commander wraps by default.
    .configureHelp({ minWidthToWrap: 20 })
    // A subcommand may have an option with the name of one of its parent, such as --values of `deployment import`.
    .enablePositionalOptions()
    .exitOverride();
  const named = COMMANDS.get(only);
  const loaders = named === undefined ? [...COMMANDS.values()] : [named];
  for (const load of loaders) program.addCommand(await load());
  if (named === undefined && completes) {
    const { completeCommand, completionCommand } = await import('./commands/completion.ts');
    program.addCommand(completionCommand());
    program.addCommand(
      completeCommand(() => createProgram({ completes: false })),
      { hidden: true },
    );
  }
  inheritSettings(program, program.name());
  return program;
}

/** Otherwise subcommands exit by themselves, with commander's code for a usage error, and name the help of all of galley. */
function inheritSettings(command: Command, path: string): void {
  for (const child of command.commands) {
    const own = `${path} ${child.name()}`;
    const what = child.commands.length > 0 ? 'commands' : 'arguments and options';
    child.copyInheritedSettings(command).showHelpAfterError(`(${own} --help lists its ${what})`);
    inheritSettings(child, own);
  }
}
