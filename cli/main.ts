#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { AdminApiError } from '../client/admin-api-client.ts';
import { ConfigurationError } from '../contract/configuration-error.ts';
import { HttpError } from '../contract/http-error.ts';
import { errorText } from '../embedded/report.ts';
import { UsageError } from './command-error.ts';
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
import { openCommand } from './commands/open.ts';
import { organizationsCommand } from './commands/organizations.ts';
import { platformCommand } from './commands/platform.ts';
import { platformWorkerCommand } from './commands/platform-worker.ts';
import { projectsCommand } from './commands/projects.ts';
import { sitesCommand } from './commands/sites.ts';
import { upCommand } from './commands/up.ts';
import { webhookCommand } from './commands/webhook.ts';
import { workerCommand } from './commands/worker.ts';
import { packageVersion } from './package-root.ts';

const EXIT_DONE = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const EXIT_CODES_HELP = `
Exit codes: 0 done, 1 the work failed, 2 the command line or configuration is wrong.
Configuration: galley.yaml (GALLEY_CONFIG) and the environment; see docs/configuration.md.`;

/** `completes`: with the commands that complete the others. */
function createProgram({ completes }: { completes: boolean }): Command {
  const program = new Command('galley')
    .description('Keeps self-hosted documentation in sync with your CMS.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', EXIT_CODES_HELP)
    .showHelpAfterError('(galley --help lists the commands)')
    .showSuggestionAfterError()
    .exitOverride();
  const commands = [
    initCommand(),
    upCommand(),
    apiCommand(),
    workerCommand(),
    platformCommand(),
    platformWorkerCommand(),
    agentWorkerCommand(),
    deploymentCommand(),
    exportCommand(),
    exportsCommand(),
    keysCommand(),
    organizationsCommand(),
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

/** A value that the platform rejects: the option is wrong. */
function isBadRequest(error: unknown): boolean {
  return (error instanceof HttpError || error instanceof AdminApiError) && error.status === 400;
}

/** Runs one command line and reports errors on standard error; resolves with the exit code. */
async function run(argv: readonly string[]): Promise<number> {
  const program = createProgram({ completes: true });
  try {
    if (argv.length === 0) {
      program.outputHelp({ error: true });
      return EXIT_USAGE;
    }
    await program.parseAsync(argv, { from: 'user' });
    return EXIT_DONE;
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_DONE : EXIT_USAGE;
  if (error instanceof ConfigurationError) {
    for (const problem of error.problems) process.stderr.write(`galley: ${problem}\n`);
    return EXIT_USAGE;
  }
  process.stderr.write(`galley: ${errorText(error)}\n`);
  return error instanceof UsageError || isBadRequest(error) ? EXIT_USAGE : EXIT_FAILED;
}

process.exitCode = await run(process.argv.slice(2));
// An open handle of a library must not keep a finished command alive.
process.exit();
