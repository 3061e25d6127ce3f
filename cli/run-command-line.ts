import { CommanderError } from 'commander';
import { errorText } from '../base/error-code.ts';
import { AdminApiError } from '../client/admin-api-error.ts';
import { ConfigurationError } from '../contract/configuration-error.ts';
import { HttpError } from '../web/http-error.ts';
import { UsageError } from './command-error.ts';
import { createProgram } from './program.ts';

const EXIT_DONE = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** A value that the platform rejects: the option is wrong. */
function isBadRequest(error: unknown): boolean {
  return (error instanceof HttpError || error instanceof AdminApiError) && error.status === 400;
}

/** Runs one command line and reports errors on standard error; resolves with the exit code. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const program = await createProgram({ only: argv[0] });
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
