import { Command } from 'commander';
import { agentWorkerCommand } from './commands/agent-worker.ts';
import { agentsCommand } from './commands/agents.ts';
import { apiCommand } from './commands/api.ts';
import { completeCommand, completionCommand } from './commands/completion.ts';
import { configCommand } from './commands/config.ts';
import { deliveriesCommand } from './commands/deliveries.ts';
import { demoCommand } from './commands/demo.ts';
import { deploymentCommand } from './commands/deployment.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { exportsCommand } from './commands/exports.ts';
import { initCommand } from './commands/init.ts';
import { keysCommand } from './commands/keys.ts';
import { membersCommand } from './commands/members.ts';
import { migrateCommand } from './commands/migrate.ts';
import { openCommand } from './commands/open.ts';
import { organizationsCommand } from './commands/organizations.ts';
import { platformCommand } from './commands/platform.ts';
import { platformWorkerCommand } from './commands/platform-worker.ts';
import { projectsCommand } from './commands/projects.ts';
import { sitesCommand } from './commands/sites.ts';
import { upCommand } from './commands/up.ts';
import { webhookCommand } from './commands/webhook.ts';
import { workerCommand } from './commands/worker.ts';
import { wrapLines } from './output.ts';
import { packageVersion } from './package-root.ts';

const EXIT_CODES_HELP = `
Exit codes: 0 done, 1 the work failed, 2 the command line or configuration is wrong.
Configuration: galley.yaml (GALLEY_CONFIG) and the environment; see docs/configuration.md.`;

/**
 * The whole command line.
 * @param completes with the commands that complete the others
 */
export function createProgram({ completes = true } = {}): Command {
  const program = new Command('galley')
    .description('Keeps self-hosted documentation in sync with your CMS.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', EXIT_CODES_HELP)
    .showHelpAfterError('(galley --help lists the commands)')
    .showSuggestionAfterError()
    .configureOutput({ writeOut: (text) => process.stdout.write(wrapLines(text)) })
    .exitOverride();
  const commands = [
    initCommand(),
    upCommand(),
    apiCommand(),
    workerCommand(),
    platformCommand(),
    platformWorkerCommand(),
    agentWorkerCommand(),
    migrateCommand(),
    deploymentCommand(),
    exportCommand(),
    exportsCommand(),
    keysCommand(),
    organizationsCommand(),
    membersCommand(),
    projectsCommand(),
    sitesCommand(),
    deliveriesCommand(),
    agentsCommand(),
    webhookCommand(),
    configCommand(),
    doctorCommand(),
    openCommand(),
    demoCommand(),
  ];
  for (const command of commands) program.addCommand(command);
  if (completes) {
    program.addCommand(completionCommand());
    program.addCommand(
      completeCommand(() => createProgram({ completes: false })),
      { hidden: true },
    );
  }
  inheritExitOverride(program);
  return program;
}

/** Otherwise subcommands exit by themselves, with commander's code for a usage error. */
function inheritExitOverride(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritExitOverride(child);
  }
}
